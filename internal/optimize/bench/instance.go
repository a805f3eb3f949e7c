//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dray/internal/optimize"
)

// instance is an academic problem. Its distances are scaled to whole numbers.
type instance struct {
	name    string
	problem optimize.Problem
	scale   int // units of the problem for one unit of the file
}

// read parses a file in the format of Solomon and of Gehring and Homberger, or of
// Li and Lim.
func read(path string) (*instance, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows [][]float64
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		row := make([]float64, 0, len(fields))
		for _, f := range fields {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				row = nil
				break
			}
			row = append(row, v)
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	in := &instance{name: strings.ToUpper(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))}
	if err := in.build(rows); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in, nil
}

// build makes the problem. By the conventions of the best known results, distances are
// truncated to one decimal in problems without pairs, and rounded to three in problems with
// pairs.
func (in *instance) build(rows [][]float64) error {
	if len(rows) < 2 || len(rows[0]) < 2 {
		return errors.New("no instance in the format of Solomon, Homberger or Li and Lim")
	}
	head, rows := rows[0], rows[1:]
	pairs := len(rows[0]) == 9
	for i, row := range rows {
		if len(row) != len(rows[0]) || len(row) < 7 {
			return fmt.Errorf("row %d has %d columns", i, len(row))
		}
	}
	round := math.Floor
	in.scale = 10
	if pairs {
		in.scale = 1000
		round = math.Round
	}
	n := len(rows)
	durations := make([]int32, n*n)
	for a, x := range rows {
		for b, y := range rows {
			durations[a*n+b] = int32(round(float64(in.scale)*math.Hypot(x[1]-y[1], x[2]-y[2]) + 1e-9))
		}
	}
	p := &in.problem
	p.Profiles = []optimize.Profile{{Size: n, Duration: durations}}
	depot := rows[0]
	for range int(head[0]) {
		p.Vehicles = append(p.Vehicles, optimize.Vehicle{
			ShiftStart: int(depot[4]) * in.scale, ShiftEnd: int(depot[5]) * in.scale, Capacity: optimize.Load{int(head[1])},
		})
	}
	for i, row := range rows[1:] {
		stop := optimize.Stop{
			Location: i + 1, Earliest: int(row[4]) * in.scale, Latest: int(row[5]) * in.scale, Service: int(row[6]) * in.scale,
		}
		if pairs {
			stop.Change[0] = int(row[3])
			if to := int(row[8]); to > 0 {
				p.Precedences = append(p.Precedences, optimize.Precedence{Before: i, After: to - 1, SameVehicle: true})
			}
		} else {
			stop.Carried[0], stop.Change[0] = int(row[3]), -int(row[3])
		}
		p.Stops = append(p.Stops, stop)
	}
	return nil
}
