package lastmile

// Settings are what an organization has set for itself.
type Settings struct {
	GeocodingPrecision Precision // the least that an address must be found with; zero takes any
	Geofence           Geofence
}
