package planning

import (
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 500_000_000, time.UTC)

func TestDefaultOptions(t *testing.T) {
	o, err := Request{}.Options(noon)
	if err != nil {
		t.Fatal(err)
	}
	want := lastmile.DispatchOptions{
		MaxTasksPerRoute: 100, MaxContainerSize: 100, ServiceTime: 2 * time.Minute, MaxAllowedDelay: 10 * time.Minute, RouteEnd: EndAtTeamHub,
		TaskWindow:     lastmile.Window{From: noon.Add(-4 * time.Hour), To: noon.Add(4 * time.Hour)},
		ScheduleWindow: lastmile.Window{From: noon, To: noon.Add(6 * time.Hour)},
	}
	if o != want {
		t.Errorf("got %+v, want %+v", o, want)
	}
}

// TestReplanOptionsFollowTheLastDispatch has a last dispatch whose routes accept no further
// tasks.
func TestReplanOptionsFollowTheLastDispatch(t *testing.T) {
	now := time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)
	none := ReplanOptions(lastmile.DispatchOptions{}, time.Hour, now)
	last, err := Request{MaxTasksPerRoute: new(0), MaxAllowedDelay: new(25 * time.Minute)}.Options(now)
	if err != nil {
		t.Fatal(err)
	}
	got := ReplanOptions(last, time.Hour, now)
	if none.MaxTasksPerRoute == 0 || got.MaxTasksPerRoute != 0 || got.MaxAllowedDelay != 25*time.Minute {
		t.Errorf("the rules are %+v, and %+v without a dispatch", got, none)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	window := func(from, to time.Duration) *lastmile.Window {
		second := noon.Truncate(time.Second) // clients send whole seconds
		return &lastmile.Window{From: second.Add(from), To: second.Add(to)}
	}
	number := func(n int) *int { return &n }
	end := func(s string) **string { return new(&s) }
	minutes := func(n int) *time.Duration { d := time.Duration(n) * time.Minute; return &d }
	vehicle := func(v lastmile.VehicleType) *lastmile.VehicleType { return &v }
	const h = time.Hour
	for name, c := range map[string]struct {
		q    Request
		want string // part of the message; empty if accepted
	}{
		"no tasks on a route":               {Request{MaxTasksPerRoute: number(0)}, ""},
		"most tasks on a route":             {Request{MaxTasksPerRoute: number(200)}, ""},
		"too many tasks on a route":         {Request{MaxTasksPerRoute: number(201)}, "maxTasksPerRoute must be between 0 and 200, not 201"},
		"negative tasks":                    {Request{MaxTasksPerRoute: number(-1)}, "maxTasksPerRoute"},
		"container size above route length": {Request{MaxTasksPerRoute: number(5), MaxContainerSize: number(6)}, "maxContainerSize"},
		"container size as route length":    {Request{MaxTasksPerRoute: number(5), MaxContainerSize: number(5)}, ""},
		"task window up to 12 hours":        {Request{TaskWindow: window(-4*h, 12*h)}, ""},
		"task window later":                 {Request{TaskWindow: window(0, 12*h+time.Second)}, "taskTimeWindow must end within 12 hours"},
		"task window too long":              {Request{TaskWindow: window(-5*h, 11*h+time.Second)}, "longer than 16 hours"},
		"task window in the past":           {Request{TaskWindow: window(-4*h, -time.Second)}, "taskTimeWindow must not end in the past"},
		"task window that ends now":         {Request{TaskWindow: window(-4*h, 0)}, ""},
		"task window reversed":              {Request{TaskWindow: window(2*h, h)}, "must start before it ends"},
		"schedule from 3 hours ago":         {Request{ScheduleWindow: window(-3*h, 13*h)}, ""},
		"schedule from earlier":             {Request{ScheduleWindow: window(-3*h-time.Second, h)}, "must not start more than 3 hours ago"},
		"schedule up to 16 hours":           {Request{ScheduleWindow: window(h, 16*h)}, ""},
		"schedule later":                    {Request{ScheduleWindow: window(h, 16*h+time.Second)}, "within 16 hours"},
		"schedule too long":                 {Request{ScheduleWindow: window(-h, 15*h+time.Second)}, "longer than 16 hours"},
		"no service time":                   {Request{ServiceTime: minutes(0)}, ""},
		"negative service time":             {Request{ServiceTime: minutes(-1)}, "serviceTime"},
		"no delay":                          {Request{MaxAllowedDelay: minutes(0)}, "maxAllowedDelay must be above 0"},
		"end anywhere":                      {Request{RouteEnd: new(*string)}, ""},
		"no end":                            {Request{RouteEnd: end("")}, "routeEnd must be"},
		"end at address":                    {Request{RouteEnd: end("workers://ROUTING_ADDRESS")}, ""},
		"end at a hub":                      {Request{RouteEnd: end("hub://H7jK3lZx9CvB5nMq2WsD8fRt")}, ""},
		"end at a hub without id":           {Request{RouteEnd: end("hub://")}, "routeEnd must be"},
		"end elsewhere":                     {Request{RouteEnd: end("home")}, "routeEnd must be"},
		"cars":                              {Request{VehicleType: vehicle(lastmile.Car)}, ""},
		"boats":                             {Request{VehicleType: vehicle("BOAT")}, "vehicleType must be one of"},
		"no type of vehicle":                {Request{VehicleType: vehicle("")}, "vehicleType must be one of"},
		"the word for any":                  {Request{VehicleType: vehicle("*")}, "vehicleType must be one of"},
	} {
		_, err := c.q.Options(noon)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
