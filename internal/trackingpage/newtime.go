package trackingpage

import (
	"time"

	"dray/internal/calendar"
	"dray/internal/lastmile"
)

// RequestedTime is the name of the metadata entry of a failed task with the time
// that its recipient requested.
const RequestedTime = "requestedTime"

// What recipients may request: parts of the next days.
const (
	offeredDays = 7
	offerNotice = 2 * time.Hour // between the request and the offered time
)

// Slot is a span of time that a recipient may request.
type Slot struct{ After, Before time.Time }

// dayParts are the parts of a day, from hour to hour.
var dayParts = [][2]int{{8, 12}, {12, 17}, {17, 21}}

// Slots returns what recipients in a time zone may request.
func Slots(now time.Time, timezone string) []Slot {
	zone := calendar.Zone(timezone)
	var all []Slot
	year, month, day := now.In(zone).Date()
	for ahead := range offeredDays {
		for _, part := range dayParts {
			s := Slot{time.Date(year, month, day+ahead, part[0], 0, 0, 0, zone), time.Date(year, month, day+ahead, part[1], 0, 0, 0, zone)}
			if s.After.Sub(now) >= offerNotice {
				all = append(all, s)
			}
		}
	}
	return all
}

// Customize applies the settings of the organization that is shown. newTimes says
// whether recipients may request another time. None is offered if the metadata of the
// task has no room for a request.
func (f *Page) Customize(t *lastmile.Task, s lastmile.PageSettings, newTimes bool, now time.Time) {
	f.Phone, f.Color = s.Phone, s.Color
	if !newTimes || f.Stage != StageFailed {
		return
	}
	if _, err := t.Metadata.Apply(request(Slot{now, now}, now)); err == nil {
		f.NewTimes = Slots(now, f.Timezone)
	}
}

// Request stores that the recipient of a failed task requests the offered slot that
// begins at a time.
func (f *Page) Request(t *lastmile.Task, begin, now time.Time) ([]lastmile.Event, error) {
	switch {
	case f.Stage != StageFailed:
		return nil, lastmile.Invalid("another time can be requested when the task has failed")
	case len(f.NewTimes) == 0:
		return nil, lastmile.Invalid("another time cannot be requested here: contact the organization")
	}
	for _, s := range f.NewTimes {
		if !s.After.Equal(begin) {
			continue
		}
		if f.Requested != nil && f.Requested.After.Equal(s.After) {
			return nil, nil
		}
		return t.Update(lastmile.TaskChange{Metadata: request(s, now)}, nil, lastmile.Actor{}, now)
	}
	return nil, lastmile.Invalid("completeAfter must be the beginning of one of the times in newTimes")
}

// request returns the change that stores a request for a slot.
func request(s Slot, now time.Time) lastmile.MetadataChange {
	return lastmile.MetadataChange{Set: lastmile.Metadata{{
		Name: RequestedTime, Type: lastmile.MetadataObject, Visibility: []string{lastmile.VisibleToAPI, lastmile.VisibleToDashboard},
		Value: map[string]any{
			"completeAfter": float64(s.After.UnixMilli()), "completeBefore": float64(s.Before.UnixMilli()), "time": float64(now.UnixMilli()),
		},
	}}}
}

// requested returns the time that the recipient requested; nil for none.
func requested(t *lastmile.Task) *Slot {
	for _, e := range t.Metadata {
		value, ok := e.Value.(map[string]any)
		if e.Name != RequestedTime || !ok {
			continue
		}
		after, _ := value["completeAfter"].(float64)
		before, _ := value["completeBefore"].(float64)
		if after > 0 && before > after {
			return &Slot{time.UnixMilli(int64(after)), time.UnixMilli(int64(before))}
		}
	}
	return nil
}
