//go:build unix

// Command bench measures the route solver on academic instances, with a fixed
// amount of CPU time on one thread, and on generated days of a courier.
//
// Without arguments it runs the sets below DRAY_TESTDATA/vrp and the generated
// ones and prints a line for each set. With -dir it runs a folder of files in the
// format of Solomon, Gehring and Homberger, or Li and Lim, and prints a line of CSV
// for each: name, vehicles, distance, unserved stops, CPU seconds. If there is a
// vroom executable, it gets the same CPU time, and the line has four more columns
// with its result.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dray/internal/optimize"
)

func main() {
	dir := flag.String("dir", "", "run the instances of this `folder`")
	seconds := flag.Float64("seconds", 1, "CPU seconds for each instance of the folder")
	only := flag.String("only", "", "comma-separated `names` of the instances to run")
	seed := flag.Uint64("seed", 1, "seed of the random choices")
	quick := flag.Bool("quick", false, "leave out what takes more than ten minutes")
	cities := flag.Bool("cities", false, "run only the generated days")
	tasks := flag.Int("tasks", 0, "run only the generated day with this many `tasks`, for -seconds")
	threads := flag.Int("threads", 1, "threads for the day of -tasks, each with -seconds of CPU time")
	steps := flag.Int64("steps", 0, "run the day of -tasks for this many steps instead of -seconds, so that the plan does not depend on the machine")
	end := flag.Float64("stop", 0, "stop the day of -tasks after this many CPU `seconds`")
	grace := flag.Float64("grace", 1, "CPU `seconds` in which a search that is stopped cools down")
	profile := flag.String("cpuprofile", "", "write a profile of the day of -tasks to this `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // the root context of this program
	defer stop()
	b := bench{seed: *seed, quick: *quick, only: strings.Split(strings.ToUpper(*only), ",")}
	if *only == "" {
		b.only = nil
	}
	b.vroom, _ = exec.LookPath("vroom")
	var err error
	switch data := os.Getenv("DRAY_TESTDATA"); {
	case *dir != "":
		err = b.folder(ctx, *dir, *seconds)
	case *tasks > 0:
		o := optimize.Options{Seed: b.seed, Threads: *threads, Budget: limit(*seconds), Grace: limit(*grace)}
		if *steps > 0 {
			o.Iterations, o.Budget, o.Grace = *steps, 0, 0
		}
		err = b.profiled(*profile, func() error { return b.day(ctx, *tasks, o, limit(*end)) })
	case *cities:
		err = b.cities(ctx)
	case data == "":
		fmt.Println("DRAY_TESTDATA is not set: the academic sets are skipped")
		err = b.cities(ctx)
	default:
		if err = b.academic(ctx, filepath.Join(data, "vrp")); err == nil {
			err = b.cities(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	seed  uint64
	quick bool
	only  []string
	vroom string // path of the executable; empty if there is none
}

// cpu returns the CPU time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func limit(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// instances reads the instances of a folder, in the order of their names.
func (b *bench) instances(dir string) ([]*instance, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if upper, err := filepath.Glob(filepath.Join(dir, "*.TXT")); err == nil {
		files = append(files, upper...)
	}
	slices.Sort(files)
	var all []*instance
	for _, f := range files {
		in, err := read(f)
		if err != nil {
			return nil, err
		}
		if b.only == nil || slices.Contains(b.only, in.name) {
			all = append(all, in)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no instances (*.txt) in %s", dir)
	}
	return all, nil
}

// folder prints a line of CSV for each instance of a folder.
func (b *bench) folder(ctx context.Context, dir string, seconds float64) error {
	all, err := b.instances(dir)
	if err != nil {
		return err
	}
	for _, in := range all {
		r, err := own(ctx, in, b.seed, seconds)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s,%d,%.3f,%d,%.2f", in.name, r.vehicles, r.distance, r.unserved, r.seconds)
		if b.vroom != "" {
			v, err := vroom(ctx, b.vroom, in, seconds)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(",%d,%.3f,%d,%.2f", v.vehicles, v.distance, v.unserved, v.seconds)
		}
		fmt.Println(line)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// academic runs the sets that have best known results.
func (b *bench) academic(ctx context.Context, dir string) error {
	known, err := bestKnown(filepath.Join(dir, "best_known.csv"))
	if err != nil {
		return err
	}
	fmt.Println("| Set | CPU s | Mean gap % | Worst gap % | Unserved |" + b.head(" VROOM mean % | VROOM unserved |"))
	fmt.Println("|---|---|---|---|---|" + b.head("---|---|"))
	for _, set := range []struct {
		folder  string
		seconds float64
	}{{"solomon", 1}, {"solomon", 5}, {"li_lim_100", 1}, {"homberger_1000", 10}, {"homberger_1000", 60}} {
		if b.quick && set.seconds > 10 {
			continue
		}
		if err := b.set(ctx, filepath.Join(dir, set.folder), set.seconds, known); err != nil {
			return err
		}
	}
	return nil
}

// head returns text if there is a vroom to compare with, and otherwise an empty string.
func (b *bench) head(text string) string {
	if b.vroom == "" {
		return ""
	}
	return text
}

// set runs a set of instances and prints its line.
func (b *bench) set(ctx context.Context, dir string, seconds float64, known map[string]float64) error {
	all, err := b.instances(dir)
	if err != nil {
		return err
	}
	var sum, worst, theirs float64
	var unserved, theirUnserved int
	for _, in := range all {
		best, ok := known[in.name]
		if !ok {
			return fmt.Errorf("%s has no best known result", in.name)
		}
		r, err := own(ctx, in, b.seed, seconds)
		if err != nil {
			return err
		}
		gap := (r.distance/best - 1) * 100
		fmt.Fprintf(os.Stderr, "%s %.0f s: %d vehicles, %.3f, gap %.3f %%\n", in.name, seconds, r.vehicles, r.distance, gap)
		sum, worst, unserved = sum+gap, max(worst, gap), unserved+r.unserved
		if b.vroom != "" {
			v, err := vroom(ctx, b.vroom, in, seconds)
			if err != nil {
				return err
			}
			theirs, theirUnserved = theirs+(v.distance/best-1)*100, theirUnserved+v.unserved
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	n := float64(len(all))
	fmt.Printf("| %s (%d) | %.0f | %.3f | %.3f | %d |%s\n", filepath.Base(dir), len(all), seconds, sum/n, worst, unserved,
		b.head(fmt.Sprintf(" %.3f | %d |", theirs/n, theirUnserved)))
	return nil
}

// bestKnown reads the best known distances: by the convention of the DIMACS challenge for
// problems without pairs, and with three decimals for those with pairs.
func bestKnown(path string) (map[string]float64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord = -1
	rows.LazyQuotes = true
	all, err := rows.ReadAll()
	if err != nil {
		return nil, err
	}
	known := map[string]float64{}
	for _, row := range all {
		for _, column := range []int{6, 7} {
			if column < len(row) {
				if v, err := strconv.ParseFloat(row[column], 64); err == nil {
					known[strings.ToUpper(row[0])] = v
				}
			}
		}
	}
	return known, nil
}

// profiled runs a function, and writes a profile of it if a file is given.
func (b *bench) profiled(path string, run func() error) error {
	if path == "" {
		return run()
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return run()
}

// day runs one generated day, stops it early if end is not 0, and prints the first and the
// final plan.
func (b *bench) day(ctx context.Context, tasks int, o optimize.Options, end time.Duration) error {
	p := generate(b.seed, tasks)
	began, wall := cpu(), time.Now() //nolint:forbidigo // several threads take less time than the CPU time of the process
	r, err := solveDay(ctx, p, o, end)
	if err != nil {
		return err
	}
	fmt.Printf("%d tasks, %d threads, %.1f CPU s in %.1f s: first plan after %.2f s travels %d with %d vehicles; then %d (unserved %d, late %d), %d vehicles, %d steps\n",
		tasks, o.Threads, (cpu() - began).Seconds(), time.Since(wall).Seconds(), r.soon, r.first.Duration, r.first.Vehicles, r.plan.Cost.Duration, r.plan.Cost.Unserved, r.plan.Cost.Lateness, r.plan.Cost.Vehicles, r.plan.Iterations)
	return nil
}

// dayResult is the result of planning a generated day.
type dayResult struct {
	soon  float64 // seconds to the first plan
	first optimize.Cost
	plan  *optimize.Solution
}

// solveDay plans a generated day and verifies the plan. Every thread gets the CPU time of the
// budget, on average. If end is not 0, the search is stopped after that time.
func solveDay(ctx context.Context, p *optimize.Problem, o optimize.Options, end time.Duration) (r dayResult, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	began := cpu()
	o.Now = func() time.Duration {
		now := (cpu() - began) / time.Duration(o.Threads)
		if end > 0 && now >= end {
			stop()
		}
		return now
	}
	o.Progress = func(g optimize.Progress) {
		if g.Phase == optimize.PhaseConstruct {
			r.first, r.soon = g.Best, o.Now().Seconds()
		}
	}
	if r.plan, err = optimize.Solve(ctx, p, o); err != nil {
		return r, err
	}
	if err := optimize.Check(p, r.plan); err != nil {
		return r, fmt.Errorf("%d tasks: the plan is wrong: %w", len(p.Stops), err)
	}
	return r, nil
}

// cities runs the generated days and prints how soon there is a plan, and how much a longer
// search improves it.
func (b *bench) cities(ctx context.Context) error {
	fmt.Println()
	fmt.Println("| Tasks | Vehicles | Threads | First plan, s | Travel first | Unserved 10 s | Lateness 10 s | Travel 10 s | Travel 10 min |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, day := range []struct{ tasks, threads int }{{50, 1}, {200, 1}, {1000, 1}, {2000, 1}, {2000, runtime.GOMAXPROCS(0)}} {
		p := generate(b.seed, day.tasks)
		o := optimize.Options{Seed: b.seed, Threads: day.threads, Budget: limit(10)}
		r, err := solveDay(ctx, p, o, 0)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %d | %d | %.3f | %d | %d | %d | %d |", day.tasks, len(p.Vehicles), day.threads, r.soon, r.first.Duration,
			r.plan.Cost.Unserved, r.plan.Cost.Lateness, r.plan.Cost.Duration)
		if day.tasks == 2000 && !b.quick {
			o.Budget = limit(600)
			if r, err = solveDay(ctx, p, o, 0); err != nil {
				return err
			}
			fmt.Printf(" %d (unserved %d, late %d)", r.plan.Cost.Duration, r.plan.Cost.Unserved, r.plan.Cost.Lateness)
		}
		fmt.Println(" |")
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err == nil {
		fmt.Printf("\nPeak memory: %d MB\n", u.Maxrss/1024)
	}
	return nil
}
