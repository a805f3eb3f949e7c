package simulate

import (
	"bytes"
	"image"
	_ "image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
)

func TestSamplesAreBounded(t *testing.T) {
	var s samples
	for i := range 3 * maxSamples {
		s.add(float64(i))
	}
	if len(s.values) != maxSamples || s.percentile(0) != 2*maxSamples || s.percentile(0.5) != 2.5*maxSamples || s.percentile(1) != 3*maxSamples-1 {
		t.Errorf("%d values from %v to %v", len(s.values), s.percentile(0), s.percentile(1))
	}
}

func TestForecasts(t *testing.T) {
	at := func(minutes int) time.Time { return time.UnixMilli(0).Add(time.Duration(minutes) * time.Minute) }
	f := forecasts{}
	for i := range 2 * maxForecasts {
		f.add("task", forecast{at: at(i), expected: at(1000 + i)})
	}
	if len(f["task"]) != maxForecasts {
		t.Errorf("%d forecasts are kept", len(f["task"]))
	}
	if known, ok := f.before("task", at(100).Add(20*time.Second), time.Minute); !ok || !known.expected.Equal(at(1100)) {
		t.Errorf("found %v, %v", known, ok)
	}
	for name, when := range map[string]time.Time{"too old": at(3), "too new": at(500)} {
		if known, ok := f.before("task", when, time.Minute); ok {
			t.Errorf("%s: found %v", name, known)
		}
	}
}

func TestDay(t *testing.T) {
	var d day
	nine := time.UnixMilli(1_800_000_000_000)
	window := shownTask{CompleteAfter: nine.UnixMilli(), CompleteBefore: nine.Add(time.Hour).UnixMilli()}
	d.served(shownTask{}, nine)
	for _, minutes := range []int{-1, 0, 60, 61} {
		d.served(window, nine.Add(time.Duration(minutes)*time.Minute))
	}
	d.drove(6*time.Minute, 5*time.Minute)
	d.drove(0, 0)
	d.foresaw(-90 * time.Second)
	got := d.report()
	if got.Windowed != 4 || got.InWindow != 2 || got.Drives != 1 || got.StartError != 20 || got.TenError != 1.5 {
		t.Errorf("the day is %+v", got)
	}
}

func TestImagesAreSmall(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		for name, taken := range map[string]photo{"photo": takePhoto(random), "signature": sign(random)} {
			size, format, err := image.DecodeConfig(bytes.NewReader(taken))
			if err != nil || format != "jpeg" || size.Width < 300 || len(taken) > 40_000 || len(taken) < 2_000 {
				t.Errorf("%s %d: %d bytes, %s, %v, %v", name, seed, len(taken), format, size, err)
			}
		}
	}
}

// An ETA is at most as good as the drive is predictable, at any speed of the simulation
// and however often the phone reports.
func TestDrivesArePredictable(t *testing.T) {
	far := grid{}.way(lastmile.Car, spot{-800, 0}, spot{300, 804})
	for _, speed := range []float64{1, 4, 10} {
		synctest.Test(t, func(t *testing.T) {
			s := &simulation{plan: plan{city: grid{}}, speed: speed, every: 3 * time.Second, now: time.Now}
			p := &phone{simulation: s, person: Person{vehicle: lastmile.Car}, random: rand.New(rand.NewPCG(1, 2)), offline: time.Now().Add(1000 * time.Hour)}
			var off samples
			for range 300 {
				left := time.Now()
				if err := p.drive(t.Context(), far); err != nil {
					t.Fatal(err)
				}
				off.add(math.Abs(float64(time.Since(left))/float64(p.duration(far)) - 1))
			}
			if p.at != far.corners[len(far.corners)-1] {
				t.Errorf("at speed %v, a drive ends at %v", speed, p.at)
			}
			if nine := off.percentile(0.9); nine > 0.16 {
				t.Errorf("at speed %v, one drive in ten takes %.0f %% more or less than usual", speed, 100*nine)
			}
		})
	}
}

func TestStrides(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for steps := range 50 {
		sum, stands := 0.0, 0
		parts := strides(random, steps)
		for _, part := range parts {
			sum += part
			if part == 0 {
				stands++
			}
		}
		if len(parts) != steps || steps > 0 && math.Abs(sum-1) > 1e-9 || stands > steps/2 {
			t.Errorf("%d steps cover %v of the way, and %d none of it", len(parts), sum, stands)
		}
	}
}
