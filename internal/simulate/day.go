package simulate

import (
	"math"
	"slices"
	"sync"
	"time"
)

// day measures how well the server predicted the day and how well the workers kept
// their windows. Durations are those at speed 1.
type day struct {
	mu       sync.Mutex
	starts   samples // errors of ETAs at the start of a drive, as fractions of the drive
	tens     samples // errors ten minutes before service began, in minutes
	windowed int
	inside   int
	pages    int // tracking pages sampled
}

// samples are the latest values of a measurement.
type samples struct {
	values []float64
	next   int
}

// maxSamples is the maximum number of values of a measurement that are kept.
const maxSamples = 10_000

func (s *samples) add(value float64) {
	if len(s.values) < maxSamples {
		s.values = append(s.values, value)
		return
	}
	s.values[s.next] = value
	s.next = (s.next + 1) % maxSamples
}

// percentile returns the value that the given part of the values does not exceed.
func (s *samples) percentile(part float64) float64 {
	if len(s.values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.values))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}

// Day is how well the server predicted a day, and how well it went. Minutes are
// those of the simulation: at four times the speed, a minute lasts 15 seconds.
type Day struct {
	Drives        int     `json:"drives"`
	StartError    float64 `json:"startErrorPercent"`   // median error of ETAs at the start of a drive
	StartError90  float64 `json:"startErrorPercent90"` // error that nine of ten do not exceed
	Stops         int     `json:"stops"`               // stops with an estimate ten minutes before
	TenError      float64 `json:"tenMinuteError"`      // median error ten minutes before, in minutes
	TenError90    float64 `json:"tenMinuteError90"`    // error that nine of ten do not exceed
	Windowed      int     `json:"windowed"`            // served tasks that had a time window
	InWindow      int     `json:"inWindow"`            // tasks served inside their time window
	Pages         int     `json:"pages"`               // tracking pages sampled
	Messages      int     `json:"messages"`            // messages about ended tasks
	PerDelivery   float64 `json:"messagesPerDelivery"` // messages per ended task
	MessagedTasks int     `json:"messagedTasks"`       // tasks that messages were counted for
}

func (d *day) report() Day {
	d.mu.Lock()
	defer d.mu.Unlock()
	round := func(x float64) float64 { return math.Round(x*10) / 10 }
	return Day{
		Drives: len(d.starts.values), StartError: round(100 * d.starts.percentile(0.5)), StartError90: round(100 * d.starts.percentile(0.9)),
		Stops: len(d.tens.values), TenError: round(d.tens.percentile(0.5)), TenError90: round(d.tens.percentile(0.9)),
		Windowed: d.windowed, InWindow: d.inside, Pages: d.pages,
	}
}

// drove records the ETA at the start of a drive and how long it took.
func (d *day) drove(eta, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if took > 0 {
		d.starts.add(math.Abs(float64(eta-took)) / float64(took))
	}
}

// foresaw records how far off an estimate was ten minutes before service began, at
// speed 1.
func (d *day) foresaw(off time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tens.add(off.Abs().Minutes())
}

// served records when the service of a task began.
func (d *day) served(t shownTask, began time.Time) {
	if t.CompleteAfter == 0 && t.CompleteBefore == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.windowed++
	if at := began.UnixMilli(); at >= t.CompleteAfter && (t.CompleteBefore == 0 || at <= t.CompleteBefore) {
		d.inside++
	}
}

// forecast is what the server expected at a time.
type forecast struct{ at, expected time.Time }

// forecasts are what the server expected of the tasks of a worker, by task.
type forecasts map[string][]forecast

// maxForecasts is the maximum number of forecasts kept for a task, the latest ones.
const maxForecasts = 64

func (f forecasts) add(task string, one forecast) {
	all := append(f[task], one)
	if len(all) > maxForecasts {
		all = slices.Delete(all, 0, len(all)-maxForecasts)
	}
	f[task] = all
}

// before returns the forecast that was made closest to a time, if there is one
// within a tolerance.
func (f forecasts) before(task string, at time.Time, tolerance time.Duration) (forecast, bool) {
	var best forecast
	found := false
	for _, one := range f[task] {
		if off := one.at.Sub(at).Abs(); off <= tolerance && (!found || off < best.at.Sub(at).Abs()) {
			best, found = one, true
		}
	}
	return best, found
}
