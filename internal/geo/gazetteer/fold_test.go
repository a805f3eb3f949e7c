package gazetteer_test

import (
	"strings"
	"testing"

	"dray/internal/geo/gazetteer"
)

func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"St. Louis":              "saint louis",
		"Saint-Louis":            "saint louis",
		"SANKT PÖLTEN":           "saint polten",
		"Ft. Worth":              "fort worth",
		"Mt Vernon":              "mount vernon",
		"N. Las Vegas":           "north las vegas",
		"N":                      "n",
		"L'Aquila":               "laquila",
		"Coeur d’Alene":          "coeur dalene",
		"Washington, D.C.":       "washington dc",
		"Łódź":                   "lodz",
		"Straße":                 "strasse",
		"Ærø":                    "aero",
		"Ħaż-Żabbar":             "haz zabbar",
		"  São   Paulo ":         "sao paulo",
		"Halle (Saale)":          "halle saale",
		"ΑΘΉΝΑ":                  "αθηνα",
		"Москва":                 "москва",
		"東京":                     "東京",
		"서울":                     "서울",
		"Ａｂｃ１２３":                 "abc123",
		"!?":                     "",
		"":                       "",
		"\xff\xfe":               "",
		"Diyarbakır / Kayapınar": "diyarbakir kayapinar",
	} {
		if got := gazetteer.Fold(text); got != want {
			t.Errorf("Fold(%q) is %q, want %q", text, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, text := range []string{"St. Louis", "Łódź", "東京", "\xff", "ﬃ St", "N . S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded := gazetteer.Fold(text)
		if strings.TrimSpace(folded) != folded || strings.Contains(folded, "  ") {
			t.Errorf("Fold(%q) is %q, with spaces to spare", text, folded)
		}
		if again := gazetteer.Plain(folded); again != folded && len(text) < 1000 {
			t.Errorf("%q folds to %q, and that to %q", text, folded, again)
		}
	})
}
