// Command bench measures the route solver on academic and generated problems.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dray/internal/optimize"
)

// cpu returns the CPU time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func bestKnown(path string) map[string]float64 {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	r.LazyQuotes = true
	rows, _ := r.ReadAll()
	out := map[string]float64{}
	for _, row := range rows {
		if len(row) < 8 {
			continue
		}
		v, err := strconv.ParseFloat(row[7], 64)
		if err != nil {
			v, err = strconv.ParseFloat(row[6], 64)
		}
		if err == nil {
			out[row[0]] = v
		}
	}
	return out
}

func main() {
	dir := flag.String("dir", "", "")
	seconds := flag.Float64("seconds", 1, "")
	only := flag.String("only", "", "comma separated")
	seed := flag.Uint64("seed", 1, "")
	flag.Parse()
	best := bestKnown(filepath.Join(filepath.Dir(filepath.Clean(*dir)), "best_known.csv"))
	files, _ := filepath.Glob(filepath.Join(*dir, "*.txt"))
	sort.Strings(files)
	want := map[string]bool{}
	for _, n := range strings.Split(*only, ",") {
		if n != "" {
			want[strings.ToUpper(n)] = true
		}
	}
	var sum float64
	classes := map[string][]float64{}
	n, uns := 0, 0
	for _, f := range files {
		in, err := read(f)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if len(want) > 0 && !want[in.name] {
			continue
		}
		began := cpu()
		sol, err := optimize.Solve(context.Background(), &in.problem, optimize.Options{Seed: *seed, Budget: time.Duration(*seconds * float64(time.Second)), Now: cpu})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		used := cpu() - began
		dist := float64(sol.Cost.Duration) / float64(in.scale)
		gap := (dist/best[in.name] - 1) * 100
		fmt.Printf("%s,%d,%.3f,%d,%.2f gap %.3f iters %d\n", in.name, sol.Cost.Vehicles, dist, sol.Cost.Unserved, used.Seconds(), gap, sol.Iterations)
		sum += gap
		n++
		uns += sol.Cost.Unserved
		c := strings.TrimRight(in.name, "0123456789")
		if i := strings.IndexAny(in.name, "0123456789"); i > 0 {
			c = in.name[:i+1]
		}
		classes[c] = append(classes[c], gap)
	}
	fmt.Printf("mean gap %.4f over %d, unserved %d\n", sum/float64(n), n, uns)
	for c, g := range classes {
		t := 0.0
		for _, x := range g {
			t += x
		}
		fmt.Printf("  %s %.3f", c, t/float64(len(g)))
	}
	fmt.Println()
}
