//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"dray/internal/optimize"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadsTheFormatOfSolomonAndHomberger(t *testing.T) {
	in, err := read(write(t, "t1.txt", `T1

VEHICLE
NUMBER     CAPACITY
  2         20

CUSTOMER
CUST NO.  XCOORD.   YCOORD.    DEMAND   READY TIME  DUE DATE   SERVICE   TIME

    0      0         0          0          0       100          0
    1      1         1         10         5         50          9
    2      3         4          7          0         90          9
`))
	if err != nil {
		t.Fatal(err)
	}
	p := &in.problem
	if in.name != "T1" || len(p.Vehicles) != 2 || p.Vehicles[0].Capacity[0] != 20 || p.Vehicles[0].ShiftEnd != 1000 || len(p.Stops) != 2 {
		t.Errorf("%+v", in)
	}
	if s := p.Stops[0]; s.Earliest != 50 || s.Latest != 500 || s.Service != 90 || s.Carried[0] != 10 || s.Change[0] != -10 {
		t.Errorf("%+v", s)
	}
	if d := p.Profiles[0].Duration; d[1] != 14 || d[2] != 50 { // cut to one decimal
		t.Errorf("durations %v", d)
	}
	r, err := own(t.Context(), in, 1, 0.001)
	if err != nil || r.unserved != 0 || r.vehicles != 1 || r.distance != 10.0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestReadsTheFormatOfLiAndLim(t *testing.T) {
	in, err := read(write(t, "lc.txt", "2\t20\t1\n0\t0\t0\t0\t0\t100\t0\t0\t0\n1\t1\t1\t-7\t0\t90\t5\t2\t0\n2\t3\t4\t7\t0\t90\t5\t0\t1\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := &in.problem
	if in.scale != 1000 || len(p.Precedences) != 1 || p.Precedences[0] != (optimize.Precedence{Before: 1, After: 0, SameVehicle: true}) {
		t.Errorf("%+v", in)
	}
	if p.Stops[1].Change[0] != 7 || p.Stops[0].Change[0] != -7 || p.Profiles[0].Duration[1] != 1414 {
		t.Errorf("%+v", p)
	}
}

func TestRejectsOtherFiles(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "words": "no instance\nat all", "a short row": "2 20 1\n0 0 0 0 0 100 0 0 0\n1 1\n"} {
		if _, err := read(write(t, "x.txt", text)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestGeneratedDaysCanBePlanned(t *testing.T) {
	for _, tasks := range []int{50, 200} {
		p := generate(1, tasks)
		s, err := optimize.Solve(t.Context(), p, optimize.Options{Iterations: 50})
		if err != nil {
			t.Fatal(err)
		}
		if err := optimize.Check(p, s); err != nil || s.Cost.Unserved > 0 {
			t.Errorf("%d tasks: %v, %d unserved", tasks, err, s.Cost.Unserved)
		}
	}
}
