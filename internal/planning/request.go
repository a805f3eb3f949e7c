package planning

import (
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// The bounds and defaults of a request, as the API defines them.
const (
	DefaultTasksPerRoute = 100
	MaxTasksPerRoute     = 200

	defaultService   = 2 * time.Minute
	defaultDelay     = 10 * time.Minute
	maxDelay         = 24 * time.Hour
	maxSpan          = 16 * time.Hour
	taskAhead        = 12 * time.Hour
	MaxScheduleAhead = 16 * time.Hour
	scheduleBack     = 3 * time.Hour
)

// The forms of the location where routes end.
const (
	EndAtTeamHub       = "teams://DEFAULT"
	EndAtWorkerAddress = "workers://ROUTING_ADDRESS"
	EndAtHub           = "hub://" // followed by the id of the hub
)

// AnyVehicle in the options of a dispatch means that workers with different types of
// vehicles are planned together.
const AnyVehicle lastmile.VehicleType = "*"

// Request is a request to dispatch. Nil fields have their defaults.
type Request struct {
	MaxTasksPerRoute *int
	TaskWindow       *lastmile.Window
	ScheduleWindow   *lastmile.Window
	ServiceTime      *time.Duration // for tasks without their own
	RouteEnd         **string       // nil in it for anywhere
	MaxAllowedDelay  *time.Duration
	MaxContainerSize *int
	VehicleType      *lastmile.VehicleType
	AnyVehicle       bool // instead of VehicleType
	DryRun           bool
}

// Options checks the request and returns it with the defaults filled in.
func (q Request) Options(now time.Time) (lastmile.DispatchOptions, error) {
	o := lastmile.DispatchOptions{
		MaxTasksPerRoute: DefaultTasksPerRoute,
		TaskWindow:       lastmile.Window{From: now.Add(-4 * time.Hour), To: now.Add(4 * time.Hour)},
		ScheduleWindow:   lastmile.Window{From: now, To: now.Add(6 * time.Hour)},
		ServiceTime:      defaultService,
		MaxAllowedDelay:  defaultDelay,
		RouteEnd:         EndAtTeamHub,
	}
	lastmile.Set(&o.MaxTasksPerRoute, q.MaxTasksPerRoute)
	lastmile.Set(&o.TaskWindow, q.TaskWindow)
	lastmile.Set(&o.ScheduleWindow, q.ScheduleWindow)
	lastmile.Set(&o.ServiceTime, q.ServiceTime)
	lastmile.Set(&o.MaxAllowedDelay, q.MaxAllowedDelay)
	lastmile.Set(&o.VehicleType, q.VehicleType)
	if err := lastmile.FirstError(checkRouteEnd(q.RouteEnd), checkVehicleType(q.VehicleType)); err != nil {
		return o, err
	}
	if q.RouteEnd != nil {
		o.RouteEnd = ""
		lastmile.Set(&o.RouteEnd, *q.RouteEnd)
	}
	if q.AnyVehicle {
		if o.VehicleType != "" {
			return o, lastmile.Invalid("filters.workers must not have both vehicleType and anyVehicle")
		}
		o.VehicleType = AnyVehicle
	}
	o.MaxContainerSize = o.MaxTasksPerRoute
	lastmile.Set(&o.MaxContainerSize, q.MaxContainerSize)
	return o, lastmile.FirstError(
		checkSizes(o),
		checkWindow("taskTimeWindow", o.TaskWindow, time.Time{}, taskAhead, now),
		checkWindow("scheduleTimeWindow", o.ScheduleWindow, now.Add(-scheduleBack), MaxScheduleAhead, now),
	)
}

// AsksForTeamHub reports whether the request, not only the default, has routes end at the hub
// of the team.
func (q Request) AsksForTeamHub() bool {
	return q.RouteEnd != nil && *q.RouteEnd != nil && **q.RouteEnd == EndAtTeamHub
}

func checkVehicleType(t *lastmile.VehicleType) error {
	if t != nil && !slices.Contains(lastmile.VehicleTypes, *t) {
		return lastmile.Invalid("filters.workers.vehicleType must be one of %s, not %q", lastmile.VehicleTypeNames(), lastmile.Truncate(string(*t), lastmile.MaxShown))
	}
	return nil
}

func checkSizes(o lastmile.DispatchOptions) error {
	switch {
	case o.MaxTasksPerRoute < 0 || o.MaxTasksPerRoute > MaxTasksPerRoute:
		return lastmile.Invalid("maxTasksPerRoute must be between 0 and %d, not %d", MaxTasksPerRoute, o.MaxTasksPerRoute)
	case o.MaxContainerSize < 0 || o.MaxContainerSize > o.MaxTasksPerRoute:
		return lastmile.Invalid("filters.workers.maxContainerSize must be between 0 and maxTasksPerRoute (%d), not %d", o.MaxTasksPerRoute, o.MaxContainerSize)
	case o.ServiceTime < 0 || o.ServiceTime > lastmile.MaxServiceTime:
		return lastmile.Invalid("serviceTime must be between 0 and %.0f minutes", lastmile.MaxServiceTime.Minutes())
	case o.MaxAllowedDelay <= 0 || o.MaxAllowedDelay > maxDelay:
		return lastmile.Invalid("maxAllowedDelay must be above 0 and at most %.0f minutes", maxDelay.Minutes())
	}
	return nil
}

// checkWindow checks a window of a request. earliest is the first time at which it may
// begin, if any, and ahead the maximum time from now to its end.
func checkWindow(field string, w lastmile.Window, earliest time.Time, ahead time.Duration, now time.Time) error {
	switch {
	case !w.From.Before(w.To):
		return lastmile.Invalid("%s must start before it ends", field)
	case w.To.Before(now.Truncate(time.Second)):
		return lastmile.Invalid("%s must not end in the past", field)
	case w.To.After(now.Add(ahead)):
		return lastmile.Invalid("%s must end within %.0f hours from now", field, ahead.Hours())
	case w.From.Before(earliest.Truncate(time.Second)):
		return lastmile.Invalid("%s must not start more than %.0f hours ago", field, now.Sub(earliest).Hours())
	case w.To.Sub(w.From) > maxSpan:
		return lastmile.Invalid("%s must not be longer than %.0f hours", field, maxSpan.Hours())
	}
	return nil
}

func checkRouteEnd(sent **string) error {
	if sent == nil || *sent == nil {
		return nil
	}
	end := **sent
	if hub, isHub := strings.CutPrefix(end, EndAtHub); end == EndAtTeamHub || end == EndAtWorkerAddress || isHub && hub != "" {
		return nil
	}
	return lastmile.Invalid("routeEnd must be %s, %s, %s followed by the id of a hub, or null, not %q", EndAtTeamHub, EndAtWorkerAddress, EndAtHub, lastmile.Truncate(end, lastmile.MaxShown))
}

// EndHub returns the hub that a route end names, if any.
func EndHub(end string) (lastmile.HubID, bool) {
	id, ok := strings.CutPrefix(end, EndAtHub)
	return lastmile.HubID(id), ok
}

// ReplanOptions returns the options for planning routes again: those of the last dispatch of
// the team, or the defaults if there was none, with windows that end ahead from now.
func ReplanOptions(last lastmile.DispatchOptions, ahead time.Duration, now time.Time) lastmile.DispatchOptions {
	o, _ := Request{}.Options(now) // an empty request is valid
	if last != (lastmile.DispatchOptions{}) {
		o.MaxTasksPerRoute, o.ServiceTime, o.MaxAllowedDelay, o.RouteEnd, o.VehicleType = last.MaxTasksPerRoute, last.ServiceTime, last.MaxAllowedDelay, last.RouteEnd, last.VehicleType
	}
	o.MaxContainerSize = MaxTasksPerRoute // routes are improved even if they are long already
	o.TaskWindow = lastmile.Window{From: o.TaskWindow.From, To: now.Add(ahead)}
	o.ScheduleWindow = lastmile.Window{From: now, To: now.Add(max(ahead, o.ScheduleWindow.To.Sub(now)))}
	return o
}
