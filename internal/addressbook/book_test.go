package addressbook_test

import (
	"context"
	"errors"
	"testing"

	"dray/internal/addressbook"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// expectCode fails unless err is a rejection with the code.
func expectCode(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	if apptest.Code(err) != want {
		t.Errorf("the error is %v, want one of code %v", err, want)
	}
}

// geocoder returns one location for every address and records the requests.
type geocoder struct {
	place lastmile.GeocodedAddress
	err   error
	asked []lastmile.AddressQuery
}

func (g *geocoder) Geocode(_ context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	g.asked = append(g.asked, q)
	return g.place, g.err
}

// book returns the address book with another geocoder.
func book(o *apptest.Org, g addressbook.Geocoder) *addressbook.Book {
	b := *o.Book
	b.Geocoder = g
	return &b
}

var street = lastmile.Address{Number: "543", Street: "Howard Street", City: "San Francisco", Country: "United States"}

func metadata(name string) lastmile.Metadata {
	return lastmile.Metadata{{Name: name, Type: lastmile.MetadataString, Value: "x", Visibility: []string{"api"}}}
}

func TestDestinationWithLocationIsNotGeocoded(t *testing.T) {
	o := apptest.NewOrg(t)
	g := &geocoder{err: lastmile.Invalid("must not be asked")}
	at := lastmile.Point{Lon: -122.39, Lat: 37.79}
	made, err := book(o, g).CreateDestination(t.Context(), o.Principal, lastmile.DestinationDraft{Address: &street, Location: &at, Notes: "Roof"})
	if err != nil || made.Location != at || made.Notes != "Roof" || len(g.asked) != 0 {
		t.Errorf("the destination is %+v: %v", made, err)
	}
	o.Read(t, func(r *sqlstore.Tx) error {
		stored, err := r.Destination(t.Context(), o.Principal.Organization, made.ID)
		if stored.Location != at {
			t.Errorf("stored is %+v", stored)
		}
		return err
	})
}

func TestDestinationIsGeocoded(t *testing.T) {
	o := apptest.NewOrg(t)
	o.Write(t, func(w *sqlstore.Tx) error {
		settings, err := w.Settings(t.Context(), o.Principal.Organization)
		if err != nil {
			return err
		}
		settings.GeocodingPrecision = lastmile.PrecisionStreet
		return w.SaveSettings(t.Context(), o.Principal.Organization, settings)
	})
	g := &geocoder{place: lastmile.GeocodedAddress{Location: lastmile.Point{Lon: -122.39, Lat: 37.79}}}
	made, err := book(o, g).Locate(t.Context(), o.Principal, "", lastmile.DestinationDraft{Address: &lastmile.Address{}, Unparsed: "543 Howard Street, San Francisco"})
	if err != nil || made.Location != g.place.Location {
		t.Fatalf("the destination is %+v: %v", made, err)
	}
	if len(g.asked) != 1 || g.asked[0].Country != "US" || g.asked[0].Precision != lastmile.PrecisionStreet {
		t.Errorf("the geocoder was asked %+v", g.asked)
	}
	o.Read(t, func(r *sqlstore.Tx) error { // Locate saves nothing
		_, err := r.Destination(t.Context(), o.Principal.Organization, made.ID)
		expectCode(t, err, lastmile.CodeNotFound)
		return nil
	})
}

func TestDestinationsReject(t *testing.T) {
	o := apptest.NewOrg(t)
	g := &geocoder{err: lastmile.Invalid("no such address")}
	for name, c := range map[string]struct {
		draft lastmile.DestinationDraft
		want  lastmile.Code
	}{
		"nothing":             {lastmile.DestinationDraft{}, lastmile.CodeMalformed},
		"an unknown address":  {lastmile.DestinationDraft{Address: &lastmile.Address{}, Unparsed: "nowhere"}, lastmile.CodeInvalid},
		"an invalid language": {lastmile.DestinationDraft{Address: &lastmile.Address{}, Unparsed: "somewhere", Language: "x"}, lastmile.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := book(o, g).CreateDestination(t.Context(), o.Principal, c.draft)
			expectCode(t, err, c.want)
		})
	}
}

func TestFindByMetadata(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	at := lastmile.Point{Lon: 1, Lat: 2}
	for _, org := range []*apptest.Org{o, other} {
		_, err := org.Book.CreateDestination(t.Context(), org.Principal, lastmile.DestinationDraft{Address: &street, Location: &at, Metadata: metadata("depot")})
		if err != nil {
			t.Fatal(err)
		}
		draft := lastmile.RecipientDraft{Name: "Boris", Phone: string(apptest.Phone()), Change: lastmile.RecipientChange{Metadata: lastmile.MetadataChange{Set: metadata("vip")}}}
		if _, err := org.Book.CreateRecipient(t.Context(), org.Principal, draft); err != nil {
			t.Fatal(err)
		}
	}
	destinations, err := o.Book.FindDestinations(t.Context(), o.Principal, metadata("depot"))
	if err != nil || len(destinations) != 1 {
		t.Errorf("found %+v: %v", destinations, err)
	}
	recipients, err := o.Book.FindRecipients(t.Context(), o.Principal, metadata("vip"))
	if err != nil || len(recipients) != 1 {
		t.Errorf("found %+v: %v", recipients, err)
	}
	for _, org := range []*apptest.Org{o, other} {
		shownDestinations, err1 := org.Book.ShowDestinations(t.Context(), org.Principal, destinations)
		shownRecipients, err2 := org.Book.ShowRecipients(t.Context(), org.Principal, recipients)
		want := 0
		if org == o {
			want = 1
		}
		if err := errors.Join(err1, err2); err != nil || len(shownDestinations) != want || len(shownRecipients) != want {
			t.Errorf("shown %s and %s, want %d each: %v", shownDestinations, shownRecipients, want, err)
		}
	}
	if none, err := o.Book.FindRecipients(t.Context(), o.Principal, metadata("other")); err != nil || len(none) != 0 {
		t.Errorf("found %+v: %v", none, err)
	}
}

func TestRecipientIsUniqueByPhone(t *testing.T) {
	o := apptest.NewOrg(t)
	phone := apptest.Phone()
	first, err := o.Book.CreateRecipient(t.Context(), o.Principal, lastmile.RecipientDraft{Name: "Boris", Phone: string(phone), Change: lastmile.RecipientChange{Notes: new("Bell")}})
	if err != nil || first.Phone != phone {
		t.Fatalf("the recipient is %+v: %v", first, err)
	}
	national := string(phone[2:]) // in the national format of the organization's country
	second, err := o.Book.CreateRecipient(t.Context(), o.Principal, lastmile.RecipientDraft{Name: "Boris Foster", Phone: national})
	if err != nil || second.ID != first.ID || second.Name != "Boris Foster" || second.Notes != "Bell" || !second.Created.Equal(first.Created) {
		t.Errorf("the recipient is %+v, want an update of %+v: %v", second, first, err)
	}
	found, err := o.Book.RecipientByPhone(t.Context(), o.Principal, national, false)
	if err != nil || found.ID != first.ID {
		t.Errorf("found %+v: %v", found, err)
	}
	other := apptest.NewOrg(t)
	_, err = other.Book.RecipientByPhone(t.Context(), other.Principal, string(phone), false)
	expectCode(t, err, lastmile.CodeNotFound)
}

func TestRecipientsByName(t *testing.T) {
	o := apptest.NewOrg(t)
	var last lastmile.RecipientID
	for range 2 {
		o.Advance(1_000_000)
		made, err := o.Book.CreateRecipient(t.Context(), o.Principal, lastmile.RecipientDraft{Name: "Boris Foster", Phone: string(apptest.Phone())})
		if err != nil {
			t.Fatal(err)
		}
		last = made.ID
	}
	found, err := o.Book.RecipientByName(t.Context(), o.Principal, "boris FOSTER")
	if err != nil || found.ID != last {
		t.Errorf("found %s, want the newest, %s: %v", found.ID, last, err)
	}
	_, err = o.Book.RecipientByName(t.Context(), o.Principal, "Nobody")
	expectCode(t, err, lastmile.CodeNotFound)
}

func TestRecipientsReject(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	for name, c := range map[string]struct {
		draft lastmile.RecipientDraft
		want  lastmile.Code
	}{
		"no name":                {lastmile.RecipientDraft{Phone: string(apptest.Phone())}, lastmile.CodeMalformed},
		"no phone number":        {lastmile.RecipientDraft{Name: "Boris"}, lastmile.CodeMalformed},
		"an invalid number":      {lastmile.RecipientDraft{Name: "Boris", Phone: "12"}, lastmile.CodeInvalid},
		"a foreign short number": {lastmile.RecipientDraft{Name: "Boris", Phone: "+4912"}, lastmile.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Book.CreateRecipient(t.Context(), o.Principal, c.draft)
			expectCode(t, err, c.want)
		})
	}
	unchecked, err := o.Book.CreateRecipient(t.Context(), o.Principal, lastmile.RecipientDraft{Name: "Boris", Phone: "+12345", SkipPhoneNumberValidation: true})
	if err != nil {
		t.Errorf("a number that is not to be validated: %v", err)
	}
	_, err = other.Book.UpdateRecipient(t.Context(), other.Principal, unchecked.ID, lastmile.RecipientChange{Name: new("Eve")})
	expectCode(t, err, lastmile.CodeOutsideScope)
	changed, err := o.Book.UpdateRecipient(t.Context(), o.Principal, unchecked.ID, lastmile.RecipientChange{Name: new("B. Foster")})
	if err != nil || changed.Name != "B. Foster" || changed.Phone != unchecked.Phone {
		t.Errorf("the recipient is %+v: %v", changed, err)
	}
}
