package simulate

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"time"

	"dray/internal/lastmile"
)

// plan holds all random choices of a run: the same seed gives the same crew and
// the same errands in the same order.
type plan struct {
	city
	seed    uint64
	staffed int     // number of teams with workers
	radius  float64 // how far from its hub a team works, in meters
}

// The sources of randomness, so that drawing more of one does not affect the
// others.
const (
	chanceCrew = iota
	chanceErrand
	chancePhone
	chanceShop
)

func (p plan) random(source, index uint64) *rand.Rand {
	return rand.New(rand.NewPCG(p.seed, source<<56|index))
}

// team is a team with its hub.
type team struct {
	name, hub  string
	door       door
	selfAssign bool
}

var gridTeams = []team{
	{"Chelsea", "Chelsea Depot", doorAt(21, -820, 0), false},
	{"Midtown", "Garment District Depot", doorAt(37, -420, 1), true},
	{"East Side", "Murray Hill Depot", doorAt(34, 480, 0), false},
}

// Person is a worker as planned.
type Person struct {
	Name    string
	Phone   string
	team    int                  // index of the team
	vehicle lastmile.VehicleType // empty for on foot
	details vehicle
}

// vehicle is a vehicle as the API accepts it.
type vehicle struct {
	Type         lastmile.VehicleType `json:"type"`
	Description  string               `json:"description"`
	LicensePlate string               `json:"licensePlate"`
	Color        string               `json:"color"`
}

var (
	firstNames = []string{
		"Amara", "Bruno", "Carmen", "Dmitri", "Elena", "Farid", "Grace", "Hiro", "Ines", "Jamal", "Keiko", "Luca",
		"Mina", "Noah", "Olga", "Pavel", "Quinn", "Rosa", "Samir", "Tara", "Umberto", "Vera", "Wanda", "Yusuf", "Zoe",
	}
	lastNames = []string{
		"Abara", "Bianchi", "Castillo", "Dimitrov", "Eriksen", "Farouk", "Goldberg", "Haddad", "Ivanova", "Johansson",
		"Kowalski", "Laurent", "Mbeki", "Nakamura", "Okafor", "Petrov", "Quispe", "Rossi", "Singh", "Tanaka", "Ueda",
		"Vargas", "Weiss", "Yilmaz", "Zhang", "O'Connor", "Müller", "Sørensen",
	}
	colors = []string{"white", "black", "red", "blue", "silver", "green"}
	models = map[lastmile.VehicleType][]string{
		lastmile.Car:        {"hatchback", "electric hatchback", "estate car"},
		lastmile.Motorcycle: {"scooter, 125 cc", "electric scooter"},
		lastmile.Bicycle:    {"cargo bicycle", "electric bicycle", "city bicycle"},
		lastmile.Truck:      {"panel van", "box truck, 3.5 t"},
	}
	rounds = []lastmile.VehicleType{lastmile.Bicycle, lastmile.Car, lastmile.Truck, lastmile.Motorcycle, lastmile.Bicycle, lastmile.Car, ""}
)

// gait is how a vehicle gets around in the city: how fast it is along streets, in
// meters per second and including red lights, and how long it takes to leave and to
// park.
type gait struct {
	speed float64
	park  time.Duration
}

var gaits = map[lastmile.VehicleType]gait{
	"":                  {1.44, 0},
	lastmile.Bicycle:    {4.35, 20 * time.Second},
	lastmile.Motorcycle: {9.2, 45 * time.Second},
	lastmile.Car:        {9.2, 45 * time.Second},
	lastmile.Truck:      {8.8, 48 * time.Second},
}

// crew returns random workers whose phone numbers begin with a prefix.
func (p plan) crew(size int, prefix string, first int) []Person {
	people := make([]Person, size)
	for i := range people {
		random := p.random(chanceCrew, uint64(i))
		kind := rounds[i%len(rounds)]
		people[i] = Person{
			Name: name(random), Phone: fmt.Sprintf("%s%04d", prefix, first+i), team: i % len(p.teams()), vehicle: kind,
		}
		if kind != "" {
			people[i].details = vehicle{
				Type: kind, Description: one(random, models[kind]), Color: one(random, colors),
				LicensePlate: fmt.Sprintf("%c%c%c %04d", 'A'+random.IntN(26), 'A'+random.IntN(26), 'A'+random.IntN(26), random.IntN(10_000)),
			}
		}
	}
	return people
}

func name(random *rand.Rand) string { return one(random, firstNames) + " " + one(random, lastNames) }

func one[T any](random *rand.Rand, of []T) T { return of[random.IntN(len(of))] }

// dispatchMode is how the desk gets a task to a worker.
type dispatchMode int

const (
	byAutoAssign dispatchMode = iota // assigned on creation
	byClaim                          // in the team's container, to be claimed by a worker
	byBatch                          // created in a batch, then assigned
)

// errand is a drop-off, or a pickup and the drop-off that depends on it.
type errand struct {
	team   int
	manner dispatchMode
	mode   string // mode of automatic assignment
	stops  []stop
}

// stop is one task of an errand.
type stop struct {
	door         door
	recipient    recipient
	notes        string
	pickup       bool
	after, until time.Duration // the time window, relative to creation; 0 is open
	service      int           // minutes
	quantity     int
	requirements requirements
	barcode      string // in base64, as in the API
}

type recipient struct {
	Name  string `json:"name"`
	Phone string `json:"phone"`
	Notes string `json:"notes,omitempty"`
}

// requirements are the requirements of a task as the API accepts them.
type requirements struct {
	Signature  bool `json:"signature"`
	Photo      bool `json:"photo"`
	Notes      bool `json:"notes"`
	MinimumAge int  `json:"minimumAge"`
}

var (
	doorNotes = []string{
		"", "", "Ring twice.", "The entrance is in the yard.", "Leave it with the doorman.", "Call on arrival.",
		"Beware of the dog.", "Use the freight elevator.", "Third door on the left.",
	}
	recipientNotes = []string{"", "", "", "Hard of hearing, please knock.", "Prefers the back door.", "At work until five."}
	shops          = []string{"Corner Bakery", "Flower Stall", "Print Shop", "Pharmacy", "Noodle Kitchen", "Book Cellar", "Camera Repair"}
)

// maxRecipients is the maximum number of different recipients.
const maxRecipients = 400

// errand returns the errand with a number.
func (p plan) errand(number uint64) errand {
	random := p.random(chanceErrand, number)
	e := errand{team: random.IntN(p.staffed), mode: one(random, []string{"distance", "load"})}
	center := p.teams()[e.team].door.at
	switch chance := random.Float64(); {
	case chance < 0.15:
		e.manner = byBatch
	case chance < 0.25 && p.teams()[e.team].selfAssign:
		e.manner = byClaim
	case chance < 0.45:
		pickup := p.stop(random, center)
		pickup.pickup, pickup.door.address.Name, pickup.requirements, pickup.barcode = true, one(random, shops), requirements{}, ""
		e.stops = append(e.stops, pickup)
	}
	e.stops = append(e.stops, p.stop(random, center))
	return e
}

func (p plan) stop(random *rand.Rand, center spot) stop {
	who := random.IntN(maxRecipients)
	s := stop{
		door:      p.doorNear(random, center, p.radius),
		recipient: recipient{Name: name(p.random(chanceCrew, 1<<32+uint64(who))), Phone: fmt.Sprintf("+1917555%04d", who), Notes: one(random, recipientNotes)},
		notes:     one(random, doorNotes), service: 1 + random.IntN(6), quantity: 1 + random.IntN(4),
	}
	if random.Float64() < 0.4 {
		s.door.address.Apartment = fmt.Sprintf("%d%c", 1+random.IntN(20), 'A'+random.IntN(6))
	}
	switch chance := random.Float64(); {
	case chance < 0.1: // at risk, and most likely late
		s.until = time.Duration(6+random.IntN(4)) * time.Minute
	case chance < 0.5:
		s.after = time.Duration(5+random.IntN(25)) * time.Minute
		s.until = s.after + time.Duration(45+random.IntN(60))*time.Minute
	}
	switch chance := random.Float64(); {
	case chance < 0.15:
		s.requirements.Signature = true
	case chance < 0.28:
		s.requirements.Photo = true
	case chance < 0.34:
		s.requirements.Notes = true
	case chance < 0.38:
		s.requirements.MinimumAge = 21
	case chance < 0.46:
		s.barcode = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "DR%09d", random.IntN(1_000_000_000)))
	}
	return s
}
