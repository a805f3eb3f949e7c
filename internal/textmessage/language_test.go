package textmessage_test

import (
	"testing"

	"dray/internal/textmessage"
)

func TestMessagesAndPagesHaveTheSameLanguage(t *testing.T) {
	for country, want := range map[string]string{"BE": "fr", "PR": "es", "BJ": "fr", "GQ": "es", "CV": "pt", "JP": "en"} {
		message, page := textmessage.Settings{}.DefaultLanguage(country), textmessage.ChooseLanguage("", country)
		if message != want || page != want {
			t.Errorf("in %s, messages are in %s and pages in %s, want %s", country, message, page, want)
		}
	}
}

func TestChooseLanguage(t *testing.T) {
	for name, c := range map[string]struct{ accept, country, want string }{
		"nothing is known":               {"", "", "en"},
		"the country alone":              {"", "BR", "pt"},
		"the browser before the country": {"de-CH", "BR", "de"},
		"the greatest weight":            {"fr;q=0.5, es;q=0.9, de;q=0.1", "", "es"},
		"the first of equals":            {"pt, de", "", "pt"},
		"the first supported one":        {"da, sv;q=0.9, fr-CA;q=0.2", "DE", "fr"},
		"no supported one":               {"ja,zh;q=0.5", "MX", "es"},
		"rejected":                       {"de;q=0", "", "en"},
		"letter case does not count":     {"PT-br", "", "pt"},
		"nonsense":                       {";;;q=,,=,de;q=x", "FR", "fr"},
		"anything":                       {"*", "", "en"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := textmessage.ChooseLanguage(c.accept, c.country); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
