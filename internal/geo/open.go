package geo

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"dray/internal/lastmile"
)

// OpenGeocoder returns the geocoder for a URL, and its kind. The kind may precede the scheme,
// as in nominatim+https://…; otherwise it is guessed from the host and path.
func OpenGeocoder(raw string, o Options) (g Geocoder, kind string, err error) {
	kind, base, err := serviceURL(raw)
	if err != nil {
		return nil, "", err
	}
	if kind == "" {
		kind = guess(base, []hint{
			{"google", "googleapis.com"},
			{"photon", "photon"},
			{"nominatim", "nominatim"},
			{"nominatim", "openstreetmap"},
			{"photon", "/api"},
			{"nominatim", "/search"},
		})
	}
	switch kind {
	case "nominatim":
		base.Path = strings.TrimSuffix(base.Path, "/search")
		return NewNominatim(base, o), kind, nil
	case "photon":
		base.Path = strings.TrimSuffix(base.Path, "/api")
		return NewPhoton(base, o), kind, nil
	case "google":
		if base.Query().Get("key") == "" {
			return nil, "", fmt.Errorf("the URL of google must end in ?key= and the key")
		}
		return NewGoogle(base, o), kind, nil
	}
	return nil, "", fmt.Errorf("the geocoder at %s must say its kind: nominatim+, photon+ or google+ before https://", base.Host)
}

// OpenRouter returns the router for a URL, and its kind. The query of an OSRM server's URL
// sets its vehicle types (modes=bicycle+foot; default car, motorcycle and truck) and the
// profile in the paths of requests (profile=bike; default driving).
func OpenRouter(raw string, o Options) (t TravelTimer, kind string, err error) {
	kind, base, err := serviceURL(raw)
	if err != nil {
		return nil, "", err
	}
	if kind == "" {
		kind = guess(base, []hint{
			{"osrm", "osrm"}, {"osrm", "/table"}, {"osrm", ":5000"}, {"valhalla", "valhalla"}, {"valhalla", ":8002"},
		})
	}
	switch kind {
	case "valhalla":
		return NewValhalla(base, o), kind, nil
	case "osrm":
		query := base.Query()
		modes, err := parseModes(query.Get("modes"))
		if err != nil {
			return nil, "", err
		}
		profile := query.Get("profile")
		if profile == "" {
			profile = "driving"
		}
		if !profileForm.MatchString(profile) {
			return nil, "", fmt.Errorf("the profile of an OSRM is a word such as driving, not %q", profile)
		}
		query.Del("modes")
		query.Del("profile")
		base.RawQuery = query.Encode()
		base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/table/v1")
		return NewOSRM(base, profile, modes, o), kind, nil
	}
	return nil, "", fmt.Errorf("the router at %s must say its kind: osrm+ or valhalla+ before https://", base.Host)
}

var profileForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// serviceURL parses a URL. Its errors do not contain the URL, which may hold a
// key.
func serviceURL(raw string) (kind string, base url.URL, err error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return "", url.URL{}, fmt.Errorf("a map service must be a URL such as nominatim+https://nominatim.example.com")
	}
	if before, after, ok := strings.Cut(u.Scheme, "+"); ok {
		kind, u.Scheme = before, after
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", url.URL{}, fmt.Errorf("a map service must be an http or https URL such as nominatim+https://nominatim.example.com")
	}
	u.Fragment = ""
	return kind, *u, nil
}

// hint is a part of a URL that identifies the kind of service.
type hint struct{ kind, part string }

func guess(base url.URL, hints []hint) string {
	address := strings.ToLower(base.Host + base.Path)
	for _, h := range hints {
		if strings.Contains(address, h.part) {
			return h.kind
		}
	}
	return ""
}

// parseModes parses the vehicle types that a router supports.
func parseModes(list string) ([]lastmile.VehicleType, error) {
	if list == "" {
		return []lastmile.VehicleType{lastmile.Car, lastmile.Motorcycle, lastmile.Truck}, nil
	}
	var modes []lastmile.VehicleType
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ' ' }) {
		mode := lastmile.VehicleType(strings.ToUpper(name))
		switch {
		case mode == "FOOT":
			mode = lastmile.OnFoot
		case !slices.Contains(lastmile.VehicleTypes, mode):
			return nil, fmt.Errorf("modes must be of car, motorcycle, bicycle, truck and foot, not %q", name)
		}
		modes = append(modes, mode)
	}
	return modes, nil
}
