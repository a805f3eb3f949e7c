//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"syscall"

	"dray/internal/optimize"
)

// result is the result of a solver for an instance.
type result struct {
	vehicles int
	distance float64
	unserved int
	seconds  float64
}

// vroom runs VROOM on an instance, on one thread with a limit of CPU seconds.
func vroom(ctx context.Context, path string, in *instance, seconds float64) (result, error) {
	p := &in.problem
	type job struct {
		ID       int      `json:"id"`
		Location int      `json:"location_index"`
		Service  int      `json:"service"`
		Delivery []int    `json:"delivery,omitempty"`
		Windows  [][2]int `json:"time_windows"`
	}
	type shipment struct {
		Amount   []int `json:"amount"`
		Pickup   job   `json:"pickup"`
		Delivery job   `json:"delivery"`
	}
	type vehicle struct {
		ID       int    `json:"id"`
		Start    int    `json:"start_index"`
		End      int    `json:"end_index"`
		Capacity []int  `json:"capacity"`
		Window   [2]int `json:"time_window"`
	}
	var input struct {
		Jobs      []job      `json:"jobs,omitempty"`
		Shipments []shipment `json:"shipments,omitempty"`
		Vehicles  []vehicle  `json:"vehicles"`
		Matrices  struct {
			Car struct {
				Durations [][]int32 `json:"durations"`
			} `json:"car"`
		} `json:"matrices"`
	}
	n := p.Profiles[0].Size
	for i := range n {
		input.Matrices.Car.Durations = append(input.Matrices.Car.Durations, p.Profiles[0].Duration[i*n:(i+1)*n])
	}
	for i := range p.Vehicles {
		v := &p.Vehicles[i]
		input.Vehicles = append(input.Vehicles, vehicle{i + 1, v.Start, v.End, []int{v.Capacity[0]}, [2]int{v.ShiftStart, v.ShiftEnd}})
	}
	plain := func(i int) job {
		s := &p.Stops[i]
		return job{ID: i + 1, Location: s.Location, Service: s.Service, Windows: [][2]int{{s.Earliest, s.Latest}}}
	}
	paired := map[int]bool{}
	for _, o := range p.Precedences {
		paired[o.Before], paired[o.After] = true, true
		input.Shipments = append(input.Shipments, shipment{[]int{p.Stops[o.Before].Change[0]}, plain(o.Before), plain(o.After)})
	}
	for i := range p.Stops {
		if !paired[i] {
			j := plain(i)
			j.Delivery = []int{p.Stops[i].Carried[0]}
			input.Jobs = append(input.Jobs, j)
		}
	}
	text, err := json.Marshal(input)
	if err != nil {
		return result{}, err
	}
	command := exec.CommandContext(ctx, path, "-t", "1", "-x", "5", "-l", fmt.Sprint(seconds))
	command.Stdin = bytes.NewReader(text)
	out, err := command.Output()
	if err != nil {
		return result{}, fmt.Errorf("vroom: %w", err)
	}
	var reply struct {
		Summary struct {
			Routes     int `json:"routes"`
			Unassigned int `json:"unassigned"`
			Duration   int `json:"duration"`
		} `json:"summary"`
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		return result{}, fmt.Errorf("vroom: %w", err)
	}
	r := result{vehicles: reply.Summary.Routes, distance: float64(reply.Summary.Duration) / float64(in.scale), unserved: reply.Summary.Unassigned}
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.seconds = float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
	}
	return r, nil
}

// own runs our solver on an instance, on one thread with a limit of CPU seconds,
// and verifies the plan.
func own(ctx context.Context, in *instance, seed uint64, seconds float64) (result, error) {
	began := cpu()
	s, err := optimize.Solve(ctx, &in.problem, optimize.Options{Seed: seed, Budget: limit(seconds), Now: cpu})
	if err != nil {
		return result{}, err
	}
	r := result{
		vehicles: s.Cost.Vehicles, distance: float64(s.Cost.Duration) / float64(in.scale), unserved: s.Cost.Unserved,
		seconds: (cpu() - began).Seconds(),
	}
	if err := optimize.Check(&in.problem, s); err != nil {
		return result{}, fmt.Errorf("%s: the plan is wrong: %w", in.name, err)
	}
	return r, nil
}
