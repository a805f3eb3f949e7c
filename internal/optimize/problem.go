// Package optimize plans the routes of vehicles. It knows stops, vehicles and
// matrices of travel, and nothing of tasks and workers.
//
// Solve searches for a plan, Check verifies one without sharing code with the search, and
// Explainer reports, for each vehicle, the rules that keep a stop out of a plan.
//
// Times are whole seconds from an origin that the caller chooses, usually the
// time of planning; any other unit works as well if it is used throughout.
// Distances and loads are whole numbers in units of the caller.
package optimize

import (
	"cmp"
	"time"
)

// Dimensions is the number of kinds of load that vehicles and stops can have.
const Dimensions = 4

// Load is an amount in every dimension. Dimensions that are not used are zero.
type Load [Dimensions]int

const (
	// MaxTime bounds every time and duration, in both directions: a window that
	// never closes ends at MaxTime.
	MaxTime = 1 << 28
	// MaxLoad bounds every amount. A vehicle without a limit in a dimension has
	// this capacity.
	MaxLoad = 1 << 28
	// Unreachable is the duration between two locations without a way.
	Unreachable = -1
	// None is the start or end of a vehicle that starts or ends anywhere.
	None = -1
)

// Problem is the input of a search. Stops, vehicles and profiles are identified by index.
type Problem struct {
	Stops    []Stop
	Vehicles []Vehicle
	// Profiles are the matrices of travel, one for each type of vehicle.
	Profiles []Profile
	// Precedences order pairs of stops.
	Precedences []Precedence
	Weights     Weights
}

// Profile has the travel between all locations for a type of vehicle. Entry from*Size+to is
// the travel between two locations. Matrices may be asymmetric and need not satisfy the
// triangle inequality. They are usually not copied, and must not change while they are in
// use.
type Profile struct {
	Size int
	// Duration is the travel time, or Unreachable.
	Duration []int32
	// Distance may be nil if distances have no weight.
	Distance []int32
}

// Stop is a visit to plan.
type Stop struct {
	// Location is the index of the stop in the matrices.
	Location int
	// Service is how long the visit takes.
	Service int
	// Earliest and Latest bound the start of the service. A vehicle that arrives
	// early waits.
	Earliest, Latest int
	// MaxLateness is the maximum time after Latest at which the service may
	// start. Such lateness counts in the objective. 0 makes the window hard,
	// MaxTime allows any lateness.
	MaxLateness int

	// Carried is the load that is on board from the start of the route because of
	// this stop, such as the goods of a plain delivery.
	Carried Load
	// Change is what the visit adds to the load. A plain delivery of 3 carries 3
	// and changes the load by -3. A pickup of 3 changes it by 3; if its delivery is
	// a stop too, that stop carries nothing and changes the load by -3.
	Change Load

	// Vehicles are the vehicles that may serve the stop; nil allows all.
	Vehicles []int
	// Pinned keeps a stop of Vehicle.Route in its position: the stops before it in
	// the route stay before it, in any order, those after it stay after it, and no
	// other stop is planned before it. The active stop is the first of its route and
	// pinned.
	Pinned bool

	// Optional stops are served only where that costs less than Prize, in units of
	// the weighted cost. All other stops are served if at all possible.
	Optional bool
	Prize    int
}

// Vehicle is one route to plan. A driver with two shifts is two vehicles.
type Vehicle struct {
	// Profile is the index of the vehicle's matrices.
	Profile int
	// Start and End are locations or None. Without a start, the vehicle begins its
	// shift at the first stop; without an end, it stays at the last one.
	Start, End int
	// ShiftStart is the earliest departure, ShiftEnd the latest arrival at the
	// end, or the latest end of the last service if End is None.
	ShiftStart, ShiftEnd int
	Capacity             Load
	// MaxStops is the largest number of stops; 0 for no limit.
	MaxStops int
	// Route is the existing route of the vehicle. Its stops are locked: they are
	// served by this vehicle or not at all, and have priority over all others. The
	// order may change, except for pinned stops. A locked stop whose window has
	// passed already should have a large MaxLateness, or else it is left out.
	Route []int
}

// Precedence orders two stops: After does not start before the service of Before has ended,
// and is left out if Before is left out.
type Precedence struct {
	Before, After int
	// SameVehicle makes both stops a unit, such as a pickup and its delivery: one
	// vehicle serves both, or neither is served. Without it, they may be on
	// different vehicles.
	SameVehicle bool
}

// Weights are the weights of the terms of the cost by which plans that serve equally many
// stops are compared. The zero value is the lexicographic order: less lateness, then less
// travel time, then fewer vehicles.
type Weights struct {
	// Lateness is the cost of a unit of lateness; 0 makes any lateness worse than
	// all travel.
	Lateness int
	// Duration and Distance are the cost of a unit of travel. If both are 0, the
	// travel time has the weight 1.
	Duration, Distance int
	// Vehicle is the cost of a vehicle that is used; 0 makes fewer vehicles better
	// only where everything else is equal.
	Vehicle int
}

// Solution is a plan.
type Solution struct {
	// Routes has one route for each vehicle of the problem, in that order. The
	// route of a vehicle that is not used has no visits.
	Routes []Route
	// Unserved are the stops that are left out, in ascending order.
	Unserved []int
	Cost     Cost
	// Iterations is the number of steps that the search took.
	Iterations int64
}

// Route is the plan of one vehicle.
type Route struct {
	Visits []Visit
	// Depart is when the vehicle leaves its start, End when it is back, or when
	// its last service ends if it ends anywhere.
	Depart, End int
	// Duration and Distance are the travel, without service and waiting.
	Duration, Distance int
}

// Visit is a stop on a route.
type Visit struct {
	Stop int
	// Arrival is when the vehicle is there, Start when the service starts and End
	// when it ends. Start may be after Arrival and the opening of the window if
	// the stop comes after one of another vehicle.
	Arrival, Start, End int
	// Lateness is how much later than Latest the service starts.
	Lateness int
	// Load is on board after the visit.
	Load Load
}

// Cost is the value of a plan, in the order in which plans are compared.
type Cost struct {
	// Unserved is the number of stops left out that are not optional.
	Unserved int
	// Weighted is the sum of the terms below by the weights of the problem. If the
	// weight of lateness is 0, lateness is compared first.
	Weighted int
	Lateness int
	// Duration and Distance are the travel of all vehicles.
	Duration, Distance int
	// Vehicles is the number of vehicles that are used.
	Vehicles int
	// Prizes is the sum of the prizes of optional stops that are left out.
	Prizes int
}

// Compare returns a negative number if c is the better plan of the same problem,
// a positive one if d is, and 0 if they are equally good.
func (w Weights) Compare(c, d Cost) int {
	late := 0
	if w.Lateness == 0 {
		late = cmp.Compare(c.Lateness, d.Lateness)
	}
	return cmp.Or(cmp.Compare(c.Unserved, d.Unserved), late, cmp.Compare(c.Weighted, d.Weighted), cmp.Compare(c.Vehicles, d.Vehicles))
}

// weighted returns the weighted cost of a plan.
func (w Weights) weighted(c Cost) int {
	duration := w.Duration
	if w.Duration == 0 && w.Distance == 0 {
		duration = 1
	}
	return w.Lateness*c.Lateness + duration*c.Duration + w.Distance*c.Distance + w.Vehicle*c.Vehicles + c.Prizes
}

// Options bound and steer a search. Iterations or Budget must be set; the search
// ends at the first that is exhausted, and at the end of its context.
type Options struct {
	// Seed determines the random choices. On one thread, and if Iterations ends
	// the search, the same problem and seed give the same plan.
	Seed uint64
	// Iterations bounds the steps of each thread.
	Iterations int64
	// Budget bounds the time by the clock of Now.
	Budget time.Duration
	// Now returns the time since any fixed moment. It is required with Budget,
	// may be a clock of CPU time, and is called from every thread.
	Now func() time.Duration
	// Grace is how long the search continues after its context has ended, within the
	// Budget. Before that, it temporarily accepts worse plans; in the grace period it
	// stops doing so. It uses one thread then.
	Grace time.Duration
	// Threads is the maximum number of threads; 0 means 1.
	Threads int
	// Allowed, if not nil, returns how many of the Threads may be used now; one may always
	// be. It is called from every thread, every few steps. Threads beyond it end at once,
	// and begin again at the next of the rounds of a lap.
	Allowed func() int
	// Initial is a plan to start with: the stops of each vehicle, in order. Its
	// infeasible parts are planned again.
	Initial [][]int
	// Progress, if not nil, is called now and then, from one goroutine at a time.
	// It must return quickly.
	Progress func(Progress)
}

// Phase is a part of a search.
type Phase string

// The phases of a search, in order.
const (
	PhaseConstruct Phase = "construct" // the first complete plan
	PhaseImprove   Phase = "improve"   // ruin and recreate
	PhaseFinish    Phase = "finish"    // last attempts for stops that are left out
)

// Progress is the state of a search.
type Progress struct {
	Phase Phase
	// Done is the share of the search that is done, from 0 to 1.
	Done float64
	// Best is the cost of the best plan so far.
	Best Cost
	// Iterations is the number of steps of the thread that reports.
	Iterations int64
}
