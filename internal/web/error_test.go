package web

import (
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"dray/internal/textmessage"
)

func TestErrorWordsAreComplete(t *testing.T) {
	for _, language := range textmessage.Languages {
		words := reflect.ValueOf(errorDictionary[language])
		for i := range words.NumField() {
			if words.Field(i).String() == "" {
				t.Errorf("%s has no text for %s", language, words.Type().Field(i).Name)
			}
		}
	}
}

func TestErrorPageFitsItsStatus(t *testing.T) {
	for status, title := range map[int]string{404: "Page not found", 429: "Please try again in a moment", 503: "Please try again in a moment", 500: "This did not work", 403: "This did not work"} {
		w := httptest.NewRecorder()
		ErrorPage(w, httptest.NewRequest("GET", "/<b>", nil), status)
		if w.Code != status || !strings.Contains(w.Body.String(), "<h1>"+title+"</h1>") || strings.Contains(w.Body.String(), "<b>") {
			t.Errorf("%d: %d %s", status, w.Code, w.Body)
		}
	}
}
