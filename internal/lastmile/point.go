package lastmile

import (
	"math"
	"time"
)

// Meters is a distance on the ground.
type Meters float64

// Point is a location in degrees of WGS84. The zero Point means no location: it lies in the
// open sea off Africa, and faulty GPS receivers report it.
type Point struct {
	Lon, Lat float64
}

// NewPoint returns a point, or an error if the coordinates are not on the
// earth.
func NewPoint(lon, lat float64) (Point, error) {
	// Written so that NaN fails the comparisons.
	if !(lon >= -180 && lon <= 180) {
		return Point{}, Invalid("longitude must be between -180 and 180, not %v", lon)
	}
	if !(lat >= -90 && lat <= 90) {
		return Point{}, Invalid("latitude must be between -90 and 90, not %v", lat)
	}
	return Point{Lon: lon, Lat: lat}, nil
}

// IsZero reports whether the point is the zero Point, which means no location.
func (p Point) IsZero() bool { return p == Point{} }

// The WGS84 ellipsoid, in meters.
const (
	equatorialRadius = 6378137.0
	flattening       = 1 / 298.257223563
	polarRadius      = equatorialRadius * (1 - flattening)
	meanRadius       = (2*equatorialRadius + polarRadius) / 3
)

// Distance returns the length of the shortest path over the ground from p to q,
// to well under a millimeter. Between nearly antipodal points, where the
// calculation does not converge, the error is at most 0.6 %.
func (p Point) Distance(q Point) Meters {
	if p == q {
		return 0
	}
	if d, ok := vincenty(p, q); ok {
		return d
	}
	return SphericalDistance(p, q)
}

// vincenty solves the inverse problem on the ellipsoid and reports whether it converged. The
// names follow T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with
// application of nested equations", Survey Review XXIII, 1975.
func vincenty(p, q Point) (Meters, bool) {
	const (
		maxRounds = 100
		settled   = 1e-12 // radians of longitude: six micrometers
	)
	l := radians(q.Lon - p.Lon)
	// Points on different sides of the date line are connected across it if that is shorter.
	l = math.Remainder(l, 2*math.Pi)
	sinU1, cosU1 := math.Sincos(reducedLatitude(p.Lat))
	sinU2, cosU2 := math.Sincos(reducedLatitude(q.Lat))

	lambda := l
	for range maxRounds {
		sinLambda, cosLambda := math.Sincos(lambda)
		sinSigma := math.Hypot(cosU2*sinLambda, cosU1*sinU2-sinU1*cosU2*cosLambda)
		if sinSigma == 0 {
			// Identical or exactly antipodal points.
			return 0, cosLambda > 0 && sinU1*sinU2+cosU1*cosU2 > 0
		}
		cosSigma := sinU1*sinU2 + cosU1*cosU2*cosLambda
		sigma := math.Atan2(sinSigma, cosSigma)
		sinAlpha := cosU1 * cosU2 * sinLambda / sinSigma
		cosSqAlpha := 1 - sinAlpha*sinAlpha
		cos2SigmaM := 0.0 // along the equator
		if cosSqAlpha > 0 {
			cos2SigmaM = cosSigma - 2*sinU1*sinU2/cosSqAlpha
		}
		c := flattening / 16 * cosSqAlpha * (4 + flattening*(4-3*cosSqAlpha))
		before := lambda
		lambda = l + (1-c)*flattening*sinAlpha*
			(sigma+c*sinSigma*(cos2SigmaM+c*cosSigma*(2*cos2SigmaM*cos2SigmaM-1)))
		if math.Abs(lambda) > math.Pi {
			return 0, false
		}
		if math.Abs(lambda-before) < settled {
			return arc(sigma, sinSigma, cosSigma, cosSqAlpha, cos2SigmaM), true
		}
	}
	return 0, false
}

// arc converts the angle between two points on the auxiliary sphere into meters
// along the ellipsoid.
func arc(sigma, sinSigma, cosSigma, cosSqAlpha, cos2SigmaM float64) Meters {
	const ratio = (equatorialRadius*equatorialRadius - polarRadius*polarRadius) / (polarRadius * polarRadius)
	uSq := cosSqAlpha * ratio
	a := 1 + uSq/16384*(4096+uSq*(-768+uSq*(320-175*uSq)))
	b := uSq / 1024 * (256 + uSq*(-128+uSq*(74-47*uSq)))
	sq := cos2SigmaM * cos2SigmaM
	delta := b * sinSigma * (cos2SigmaM + b/4*(cosSigma*(2*sq-1)-
		b/6*cos2SigmaM*(4*sinSigma*sinSigma-3)*(4*sq-3)))
	return Meters(polarRadius * a * (sigma - delta))
}

// SphericalDistance returns the distance between two points on a sphere with the mean radius
// of the earth, by the haversine formula.
func SphericalDistance(p, q Point) Meters {
	sinLat := math.Sin(radians(q.Lat-p.Lat) / 2)
	sinLon := math.Sin(radians(q.Lon-p.Lon) / 2)
	h := sinLat*sinLat + math.Cos(radians(p.Lat))*math.Cos(radians(q.Lat))*sinLon*sinLon
	return Meters(2 * meanRadius * math.Asin(math.Sqrt(min(h, 1))))
}

func reducedLatitude(degrees float64) float64 {
	return math.Atan((1 - flattening) * math.Tan(radians(degrees)))
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// Position is the location of a worker at a time.
type Position struct {
	Location                 Point
	At                       time.Time
	Accuracy, Speed, Heading *float64
	Battery                  *float64
	Odometer                 Meters // distance that the worker has traveled up to here
}

// Odometer measures the distance that a worker travels.
type Odometer struct {
	Way  Meters
	From *Point // point from which the next part is measured; nil at first
}

// WithPositions returns the whereabouts updated with the last of positions, which are ordered
// by time. If it is not newer than the current location, nothing changes.
func (w Whereabouts) WithPositions(positions []Position) Whereabouts {
	if len(positions) == 0 {
		return w
	}
	newest := positions[len(positions)-1]
	if w.Location != nil && !newest.At.After(w.LocatedAt) {
		return w
	}
	w.Location, w.LocatedAt = &newest.Location, newest.At
	if charge := ValidBattery(newest.Battery); charge != nil {
		w.Battery = charge
	}
	if newest.At.After(w.LastSeen) {
		w.LastSeen = newest.At
	}
	return w
}
