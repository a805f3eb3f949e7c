package gazetteer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which names are compared, which ignores case,
// accents, punctuation and common abbreviations (St., Ft, Mt).
func Fold(name string) string {
	return expand(Plain(name))
}

// Plain returns the words of a text: letters and digits in lower case, without
// accents, separated by single spaces. Periods and apostrophes join words,
// everything else separates them.
func Plain(text string) string {
	ascii := isASCII(text)
	if !ascii {
		text = norm.NFKD.String(text)
	}
	out := make([]byte, 0, len(text)+8)
	space := false
	for _, r := range text {
		switch {
		case r == '.' || r == '\'' || r == '’' || r == '‘' || r == 'ʻ' || r == 'ʼ' || r == '`' || unicode.Is(unicode.Mn, r):
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mc, r):
			space = true
			continue
		}
		if space && len(out) > 0 {
			out = append(out, ' ')
		}
		space = false
		if r < utf8.RuneSelf {
			out = append(out, lower(byte(r)))
			continue
		}
		if spelled, ok := spellings[r]; ok {
			out = append(out, spelled...)
			continue
		}
		out = utf8.AppendRune(out, unicode.ToLower(r))
	}
	if ascii {
		return string(out)
	}
	return norm.NFC.String(string(out))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// spellings are letters that do not decompose into a base letter and an accent.
var spellings = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o",
	'đ': "d", 'Đ': "d", 'ð': "d", 'Ð': "d", 'ł': "l", 'Ł': "l", 'þ': "th", 'Þ': "th",
	'ı': "i", 'ħ': "h", 'Ħ': "h", 'ŧ': "t", 'Ŧ': "t", 'ə': "a", 'Ə': "a", 'ŋ': "n", 'Ŋ': "n",
}

// abbreviations maps words of place names to their long form, in which they are compared.
var abbreviations = map[string]string{
	"st": "saint", "ste": "sainte", "sankt": "saint", "sta": "santa", "sto": "santo",
	"ft": "fort", "mt": "mount", "mtn": "mountain",
	"hts": "heights", "spgs": "springs", "spg": "spring", "jct": "junction", "vlg": "village",
}

// directions are expanded at the start of a name of several words. E and W differ by one
// letter, which could be a typing mistake, but east and west do not.
var directions = map[string]string{"n": "north", "s": "south", "e": "east", "w": "west"}

// expand expands the abbreviations of a plain name.
func expand(name string) string {
	words := strings.Split(name, " ")
	changed := false
	for i, word := range words {
		long, ok := abbreviations[word]
		if !ok && i == 0 && len(words) > 1 {
			long, ok = directions[word]
		}
		if ok {
			words[i], changed = long, true
		}
	}
	if !changed {
		return name
	}
	return strings.Join(words, " ")
}
