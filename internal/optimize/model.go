package optimize

import "math"

const (
	// farAway is the internal duration between locations without a way. Added to any time, it
	// is later than everything, and still fits into 32 bits.
	farAway = 1 << 30
	// granularity is the number of stops that are tried before and after a stop.
	granularity = 32
	// richGranularity is the granularity of problems with more rules, in which most of the
	// closest stops have no room next to them, or are on the same few routes.
	richGranularity = 64
	// pairNeighbors is the number of stops before and after each stop of a pair whose routes
	// are tried for it.
	pairNeighbors = 60
	// openClasses is the number of classes of unused vehicles that are tried for a request.
	openClasses = 16
	// adjacency is the number of stops around a seed that can be ruined.
	adjacency = 120
)

// model is a problem in the form that the search reads: dense arrays of 32 bits.
// It does not change during a search, and all threads share it.
type model struct {
	p        *Problem
	stops    int
	size     int // rows of the matrices: stops, then starts and ends, then None
	matrices []matrix
	vehicles []vehicleModel
	nodes    []node   // stops, then start and end of each vehicle, not linked yet
	rich     []demand // loads of stops, in all dimensions
	loads    []int    // dimensions of load that some route can exceed
	dims     int      // their number; loads in the model have their order
	plain    bool     // windows are hard, loads only fall, any vehicle serves any stop
	soft     bool     // some stop may be late
	flat     bool     // the largest load of a route is at its start
	wide     bool     // there are precedences between vehicles
	allowed  []bool   // by vehicle and stop; nil if there are no restrictions
	zones    []int32  // by node: its part of a route between pinned stops; must not fall along a route; nil if nothing is pinned
	requests [][]int32
	request  []int32   // by stop: its request
	kinds    []kind    // by request
	pairs    int       // number of requests of kind pair
	pairOf   []int32   // by request: its number among the pairs
	opens    []int8    // by stop: 1 for the first of a pair, -1 for the second, otherwise 0
	paired   float64   // share of stops that are served together with others
	weight   []int64   // by request: its number of stops that are not optional; locked stops count more than all others
	prize    []int64   // by request: the sum of the prizes of its optional stops
	before   [][]int32 // stops of other requests that must end before
	after    [][]int32
	inside   [][]int32 // stops of the same request that must come before
	preds    [][]near  // by stop: the stops that may come directly before it, closest first
	succs    [][]near
	around   [][]int32   // by stop: the closest stops
	classes  [][]int32   // vehicles that are equal as long as they are empty
	openings [][]opening // by request: the classes whose unused vehicles serve it at the least cost
	depth    []int64     // by stop: the cost from the closest start
	tier     []int32     // by request: the length of the longest chain of precedences before it
}

type kind uint8

const (
	single  kind = iota // one stop without precedences
	pair                // two stops, one before the other
	general             // anything else
)

// near is a stop next to another.
type near struct {
	stop int32
	dur  int32
	cost int32
}

// opening is the cost of a route in which a vehicle of a class serves only one request.
type opening struct {
	cost  int64
	class int32
}

type matrix struct {
	dur, cost   []int32 // row from, column to
	durT, costT []int32 // the same, transposed
}

type vehicleModel struct {
	matrix   *matrix
	capacity [Dimensions]int32
	maxStops int32
	class    int32
	rank     int32 // in its class
	fixed    int64 // cost of using it
}

type demand struct {
	carried, change [Dimensions]int32
}

// node is a stop, or the start or end of a route. It fits into one cache line.
type node struct {
	next, prev, route int32
	loc               int32 // row in the matrices
	start             int32 // when the service starts
	hard              int32 // the latest start that the rest of the route allows
	to                int32 // the node for which leg and arc were computed
	early, late, due  int32 // the window: late is the latest start, due the latest without lateness
	service           int32
	demand            int32 // carried, in the first dimension of the model
	load              int32 // sum of demand up to here
	pos               int32
	leg, arc          int32 // duration and cost of travel to next
}

// compile translates a valid problem.
func compile(p *Problem) (*model, error) {
	m := &model{p: p, stops: len(p.Stops)}
	if err := m.compileMatrices(); err != nil {
		return nil, err
	}
	m.compileStops()
	m.compileVehicles()
	m.compileRequests()
	m.compileOpenings()
	m.plain = !m.soft && m.flat && m.dims <= 1 && m.allowed == nil && m.zones == nil && len(m.requests) == m.stops && !m.wide
	m.compileNeighbors()
	return m, nil
}

// start and end return the nodes at the ends of a route.
func (m *model) start(r int32) int32 { return int32(m.stops) + 2*r }
func (m *model) end(r int32) int32   { return int32(m.stops) + 2*r + 1 }

// compileMatrices copies the travel between stops, starts and ends.
func (m *model) compileMatrices() error {
	p := m.p
	rows := make([]int, 0, m.stops+8)
	for i := range p.Stops {
		rows = append(rows, p.Stops[i].Location)
	}
	ends := map[int]int32{}
	for i := range p.Vehicles {
		for _, loc := range [2]int{p.Vehicles[i].Start, p.Vehicles[i].End} {
			if _, ok := ends[loc]; !ok && loc != None {
				ends[loc] = int32(len(rows))
				rows = append(rows, loc)
			}
		}
	}
	n := len(rows) + 1
	ends[None] = int32(n - 1)
	m.size = n
	w := p.Weights
	if w.Duration == 0 && w.Distance == 0 {
		w.Duration = 1
	}
	m.matrices = make([]matrix, len(p.Profiles))
	for i := range p.Profiles {
		source, out := &p.Profiles[i], &m.matrices[i]
		out.dur = make([]int32, n*n)
		out.cost = out.dur
		if w.Duration != 1 || w.Distance != 0 {
			out.cost = make([]int32, n*n)
		}
		for a, from := range rows {
			if from >= source.Size {
				continue // the start or end of a vehicle of another profile
			}
			for b, to := range rows {
				if to >= source.Size {
					continue
				}
				d := source.Duration[from*source.Size+to]
				c := int64(d) * int64(w.Duration)
				if w.Distance > 0 {
					c += int64(source.Distance[from*source.Size+to]) * int64(w.Distance)
				}
				if d == Unreachable {
					d, c = farAway, farAway
				} else if c > farAway {
					return invalid("the weights times the travel are too large")
				}
				out.dur[a*n+b] = d
				out.cost[a*n+b] = int32(c)
			}
		}
		out.transpose(n)
	}
	m.nodes = make([]node, m.stops+2*len(p.Vehicles))
	for i := range p.Vehicles {
		m.nodes[m.start(int32(i))].loc = ends[p.Vehicles[i].Start]
		m.nodes[m.end(int32(i))].loc = ends[p.Vehicles[i].End]
	}
	return nil
}

// transpose makes the columns of a matrix contiguous too. A symmetric matrix is its own
// transpose.
func (t *matrix) transpose(n int) {
	one := func(in []int32) []int32 {
		for a := range n {
			for b := range a {
				if in[a*n+b] != in[b*n+a] {
					return transposed(in, n)
				}
			}
		}
		return in
	}
	t.durT = one(t.dur)
	if &t.cost[0] == &t.dur[0] {
		t.costT = t.durT
	} else {
		t.costT = one(t.cost)
	}
}

// transposed copies a matrix of n rows with rows and columns exchanged, in blocks that fit
// into the cache.
func transposed(in []int32, n int) []int32 {
	const block = 32
	out := make([]int32, n*n)
	for top := 0; top < n; top += block {
		for left := 0; left < n; left += block {
			for a := top; a < min(top+block, n); a++ {
				for b := left; b < min(left+block, n); b++ {
					out[b*n+a] = in[a*n+b]
				}
			}
		}
	}
	return out
}

// compileLoads finds the dimensions in which all stops together exceed the capacity of
// some vehicle. The others never limit a route.
func (m *model) compileLoads() {
	for d := range Dimensions {
		total, least := 0, MaxLoad
		for i := range m.p.Stops {
			total += m.p.Stops[i].Carried[d] + max(0, m.p.Stops[i].Change[d])
		}
		for i := range m.p.Vehicles {
			least = min(least, m.p.Vehicles[i].Capacity[d])
		}
		if total > least {
			m.loads = append(m.loads, d)
		}
	}
	m.dims = len(m.loads)
}

func (m *model) compileStops() {
	m.compileLoads()
	m.flat = true
	m.rich = make([]demand, m.stops)
	for i := range m.p.Stops {
		s := &m.p.Stops[i]
		late := min(s.Latest+s.MaxLateness, MaxTime)
		m.nodes[i] = node{
			next: -1, prev: -1, route: -1, to: -1, loc: int32(i),
			early: int32(s.Earliest), late: int32(late), due: int32(min(s.Latest, late)), service: int32(s.Service),
		}
		m.soft = m.soft || s.MaxLateness > 0
		for k, d := range m.loads {
			m.rich[i].carried[k] = int32(s.Carried[d])
			m.rich[i].change[k] = int32(s.Change[d])
			m.flat = m.flat && s.Change[d] <= 0
		}
		m.nodes[i].demand = m.rich[i].carried[0]
	}
}

func (m *model) compileVehicles() {
	p := m.p
	m.vehicles = make([]vehicleModel, len(p.Vehicles))
	restricted := false
	for i := range p.Vehicles {
		v := &p.Vehicles[i]
		out := &m.vehicles[i]
		out.matrix = &m.matrices[v.Profile]
		for k, d := range m.loads {
			out.capacity[k] = int32(v.Capacity[d])
		}
		out.maxStops = int32(min(v.MaxStops, MaxStops))
		if v.MaxStops == 0 {
			out.maxStops = math.MaxInt32
		}
		out.fixed = int64(p.Weights.Vehicle)
		a, b := m.start(int32(i)), m.end(int32(i))
		m.nodes[a] = node{
			next: b, prev: -1, route: int32(i), to: -1, loc: m.nodes[a].loc,
			early: int32(v.ShiftStart), late: int32(v.ShiftEnd), due: int32(v.ShiftEnd),
		}
		m.nodes[b] = node{
			next: -1, prev: a, route: int32(i), to: -1, loc: m.nodes[b].loc,
			early: int32(v.ShiftStart), late: int32(v.ShiftEnd), due: int32(v.ShiftEnd),
		}
		restricted = restricted || len(v.Route) > 0
		m.compileZones(v.Route)
	}
	for i := range p.Stops {
		restricted = restricted || p.Stops[i].Vehicles != nil
	}
	if restricted {
		m.compileAllowed()
	}
	m.compileClasses()
	m.depth = make([]int64, m.stops)
	for x := range m.depth {
		m.depth[x] = farAway
		for class := range m.classes {
			r := m.classes[class][0]
			m.depth[x] = min(m.depth[x], int64(m.vehicles[r].matrix.cost[int(m.nodes[m.start(r)].loc)*m.size+x]))
		}
	}
}

// compileZones numbers the parts of a route between pinned stops: a pinned stop has an odd
// number, and the stops between two of them an even one. Stops that are not on a route come
// after all pinned stops.
func (m *model) compileZones(route []int) {
	last := -1
	for k, s := range route {
		if m.p.Stops[s].Pinned {
			last = k
		}
	}
	if last < 0 {
		return
	}
	if m.zones == nil {
		m.zones = make([]int32, len(m.nodes))
		for i := range m.zones {
			m.zones[i] = math.MaxInt32
		}
	}
	zone := int32(0)
	for _, s := range route[:last+1] {
		if m.p.Stops[s].Pinned {
			m.zones[s] = zone + 1
			zone += 2
		} else {
			m.zones[s] = zone
		}
	}
}

func (m *model) compileAllowed() {
	vehicles := len(m.vehicles)
	m.allowed = make([]bool, vehicles*m.stops)
	for i := range m.p.Stops {
		if m.p.Stops[i].Vehicles == nil {
			for v := range vehicles {
				m.allowed[v*m.stops+i] = true
			}
		}
		for _, v := range m.p.Stops[i].Vehicles {
			m.allowed[v*m.stops+i] = true
		}
	}
	for v := range m.p.Vehicles {
		for _, s := range m.p.Vehicles[v].Route {
			for other := range vehicles {
				if other != v {
					m.allowed[other*m.stops+s] = false
				}
			}
		}
	}
	if m.zones == nil {
		return
	}
	for v := range vehicles {
		m.zones[m.start(int32(v))] = -1
	}
}

// compileClasses groups vehicles that are the same for every stop.
func (m *model) compileClasses() {
	type key struct {
		profile, start, end, from, to, limit int
		capacity                             Load
		stops                                string
	}
	index := map[key]int32{}
	for i := range m.p.Vehicles {
		v := &m.p.Vehicles[i]
		k := key{v.Profile, v.Start, v.End, v.ShiftStart, v.ShiftEnd, v.MaxStops, v.Capacity, ""}
		if m.allowed != nil {
			bits := make([]byte, (m.stops+7)/8)
			for s := range m.stops {
				if m.allowed[i*m.stops+s] {
					bits[s/8] |= 1 << (s % 8)
				}
			}
			k.stops = string(bits)
		}
		class, ok := index[k]
		if !ok {
			class = int32(len(m.classes))
			index[k] = class
			m.classes = append(m.classes, nil)
		}
		m.vehicles[i].class, m.vehicles[i].rank = class, int32(len(m.classes[class]))
		m.classes[class] = append(m.classes[class], int32(i))
	}
}
