package web

import (
	"reflect"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
	"dray/internal/trackingpage"
)

func TestEveryLanguageHasAllWords(t *testing.T) {
	for _, language := range textmessage.Languages {
		w, known := dictionary[language]
		if !known {
			t.Errorf("no words in %s", language)
		}
		for _, stage := range trackingpage.Stages {
			if w.Stages[stage] == "" || w.PickupStages[stage] == "" || w.Steps[stage] == "" {
				t.Errorf("%s lacks words for %s", language, stage)
			}
		}
		if w.step(trackingpage.StageCompleted, true) == w.step(trackingpage.StageCompleted, false) {
			t.Errorf("%s: a pickup is %s", language, w.step(trackingpage.StageCompleted, true))
		}
		for _, reason := range lastmile.FailureReasons {
			if (w.Reasons[string(reason)] == "") != (reason == "OTHER") { // only notes explain that one
				t.Errorf("%s says %q for %s", language, w.Reasons[string(reason)], reason)
			}
		}
		for v, i := reflect.ValueOf(w), 0; i < v.NumField(); i++ {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "oClock" {
				t.Errorf("%s lacks %s", language, name)
			}
		}
	}
}

func TestTimesInEveryLanguage(t *testing.T) {
	now := time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC) // a Wednesday
	two, four := now.Add(2*time.Hour), now.Add(4*time.Hour)
	next := two.AddDate(0, 0, 1)
	for language, want := range map[string][6]string{
		"en": {"2:00 PM", "March 5, 2:00 PM", "2:00 PM – 4:00 PM", "from 2:00 PM", "until March 5, 2:00 PM", "Wednesday, March 4, 2:00 PM – 4:00 PM"},
		"es": {"14:00", "5 de marzo, 14:00", "14:00 – 16:00", "desde las 14:00", "hasta el 5 de marzo, 14:00", "miércoles, 4 de marzo, 14:00 – 16:00"},
		"fr": {"14:00", "5 mars, 14:00", "14:00 – 16:00", "à partir de 14:00", "jusqu’au 5 mars, 14:00", "mercredi, 4 mars, 14:00 – 16:00"},
		"de": {"14:00 Uhr", "5. März, 14:00 Uhr", "14:00 – 16:00 Uhr", "ab 14:00 Uhr", "bis 5. März, 14:00 Uhr", "Mittwoch, 4. März, 14:00 – 16:00 Uhr"},
		"pt": {"14:00", "5 de março, 14:00", "14:00 – 16:00", "a partir das 14:00", "até 5 de março, 14:00", "quarta-feira, 4 de março, 14:00 – 16:00"},
	} {
		w := dictionary[language]
		got := [6]string{
			w.moment(two, time.UTC, now), w.moment(next, time.UTC, now), w.window(two, four, time.UTC, now), w.window(two, time.Time{}, time.UTC, now),
			w.window(time.Time{}, next, time.UTC, now), w.slot(trackingpage.Slot{After: two, Before: four}, time.UTC),
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", language, got, want)
		}
	}
}
