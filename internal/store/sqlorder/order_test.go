package sqlorder

import (
	"encoding/json"
	"testing"

	"dray/internal/order"
)

// TestStoredForms pins the form in which records of package order are stored: a field
// that is renamed there would be lost in the records of existing installations.
func TestStoredForms(t *testing.T) {
	pin(t, order.Service{}, `{"ID":"s","Organization":"o","Created":"2026-01-02T03:04:05Z","Modified":"2026-01-02T03:04:05Z","DisplayName":"Express","Currency":"USD","Clients":["c"],"Timezone":"UTC",`+
		`"Hours":[{"Days":[1,0],"From":480,"To":1080}],"LeadTime":60000000000,"SameDayUntil":840,"DueIn":120000000000,`+
		`"Limits":{"Weight":{"Value":2.5,"Unit":"kg"},"Quantity":3,"Distance":{"Value":10,"Unit":"km"},"Area":[[[{"Lon":1,"Lat":2}]]]},`+
		`"Rates":[{"ID":"r","Name":"Base","Type":"distance","IsBase":true,"Amount":450,"Unit":"km","Free":1.5,"Tiers":[{"UpTo":5,"Amount":300}],"When":{"Days":[6],"From":0,"To":1440}}]}`)
	const price = `{"Currency":"USD","Total":450,"Entries":[{"ID":"r","Name":"Base","Type":"flat","IsBase":true,"Cost":450}]}`
	pin(t, order.Quote{}, `{"ID":"q","Organization":"o","Client":"c","Service":"s","Rate":"r","DisplayName":"Express","Created":"2026-01-02T03:04:05Z","Expires":"2026-01-02T03:34:05Z",`+
		`"Job":{"ReadyBy":"2026-01-02T03:04:05Z","DueBy":"2026-01-02T05:04:05Z","Quantity":2,"Weight":{"Value":1.5,"Unit":"lbs"},"Pickup":{"Lon":1,"Lat":2},"Dropoff":{"Lon":3,"Lat":4},"Distance":5000,"Duration":600},"Price":`+price+`}`)
	pin(t, order.Order{}, `{"ID":"i","ShortID":"8f2a61c4","Courier":"o","Client":"c","ClientID":"k","ClientName":"Shop","Created":"2026-01-02T03:04:05Z","Modified":"2026-01-02T03:04:05Z","Service":"s","ServiceName":"Express","Quote":"q","Price":`+price+`,`+
		`"Job":{"ReadyBy":"2026-01-02T03:04:05Z","DueBy":"2026-01-02T05:04:05Z","Quantity":2,"Weight":{"Value":1.5,"Unit":"lbs"},"Pickup":{"Lon":1,"Lat":2},"Dropoff":{"Lon":3,"Lat":4},"Distance":5000,"Duration":600},`+
		`"Pickup":{"Task":"p","State":3,"Failed":true},"Dropoff":{"Task":"d","State":0,"Failed":false},"Status":"failed","Reason":"x","Events":[{"Name":"created","At":"2026-01-02T03:04:05Z","Task":"","Status":"unassigned"}]}`)
}

// pin fails the test unless a stored record is read and saved as it is.
func pin[T any](t *testing.T, record T, stored string) {
	t.Helper()
	if err := json.Unmarshal([]byte(stored), &record); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(record)
	if err != nil || string(again) != stored {
		t.Errorf("%T is saved as\n%s\nwant\n%s: %v", record, again, stored, err)
	}
}
