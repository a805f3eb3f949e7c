package lastmile

import (
	"testing"
)

func TestAuthorsKeepTheirActor(t *testing.T) {
	tests := map[string]struct {
		who  Principal
		want Actor
	}{
		"a key":            {Principal{Organization: "org", Key: "key"}, Actor{ActorAPI, "key"}},
		"an administrator": {Principal{Organization: "org", Admin: "ada"}, Actor{ActorAdmin, "ada"}},
		"the platform":     {Principal{Organization: "org"}, Actor{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			later := AuthoredBy(tt.who.Organization, tt.who.Author())
			if later.Organization != "org" || tt.who.Actor() != tt.want || later.Actor() != tt.want {
				t.Errorf("now %v, later %v of %s; want %v", tt.who.Actor(), later.Actor(), later.Organization, tt.want)
			}
		})
	}
}
