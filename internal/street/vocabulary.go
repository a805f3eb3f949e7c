package street

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// separator separates the names of a street or a place.
const separator = "\x1f"

func split(names string) []string { return strings.Split(names, separator) }

// words returns the size of the vocabulary.
func (x *Index) words() int { return len(x.parts[secWords]) / 4 }

// word returns a word of the vocabulary.
func (x *Index) word(i int) []byte {
	r := x.at(secWordText, number(x.parts[secWords], 4*i))
	return r.text(r.uint())
}

// find returns the position of the first word that is not before a text.
func (x *Index) find(text string) int {
	sought := []byte(text)
	return sort.Search(x.words(), func(i int) bool { return bytes.Compare(x.word(i), sought) >= 0 })
}

// lookUp returns the position of a word.
func (x *Index) lookUp(text string) (int, bool) {
	i := x.find(text)
	return i, i < x.words() && string(x.word(i)) == text
}

// starting calls a function with the words that begin with a text, up to a limit.
func (x *Index) starting(text string, limit int, each func(i int)) {
	for i := x.find(text); i < x.words() && limit > 0 && bytes.HasPrefix(x.word(i), []byte(text)); i++ {
		each(i)
		limit--
	}
}

// mistakes returns how many mistakes are tolerated in a word of a length.
func mistakes(length int) int {
	switch {
	case length < 3:
		return 0
	case length < 8:
		return 1
	}
	return 2
}

// near calls a function with the words within some edits of a text; swapped letters are one
// edit. It walks through the sorted words and skips all words with a prefix that is already
// too different.
func (x *Index) near(text string, most int, each func(i, edits int)) {
	sought := []rune(text)
	width := len(sought) + 1
	rows := make([]int, width, width*16)
	for j := range rows {
		rows[j] = j
	}
	var runes []rune // of the current word
	for i := 0; i < x.words(); {
		word := x.word(i)
		depth, bytesUsed := 0, 0
		for bytesUsed < len(word) {
			r, size := utf8.DecodeRune(word[bytesUsed:])
			if depth >= len(runes) || runes[depth] != r {
				break
			}
			depth++
			bytesUsed += size
		}
		runes = runes[:depth]
		rows = rows[:width*(depth+1)]
		tooFar := false
		for bytesUsed < len(word) {
			r, size := utf8.DecodeRune(word[bytesUsed:])
			bytesUsed += size
			runes = append(runes, r)
			depth++
			least := depth
			rows = append(rows, depth)
			for j := 1; j < width; j++ {
				at, above := width*depth+j, width*(depth-1)+j
				change := 1
				if sought[j-1] == r {
					change = 0
				}
				v := min(rows[above]+1, rows[at-1]+1, rows[above-1]+change)
				if depth > 1 && j > 1 && sought[j-1] == runes[depth-2] && sought[j-2] == r {
					v = min(v, rows[above-width-2]+1)
				}
				rows = append(rows, v)
				least = min(least, v)
			}
			if least > most {
				tooFar = true
				break
			}
		}
		if !tooFar {
			if edits := rows[width*depth+width-1]; edits <= most {
				each(i, edits)
			}
			i++
			continue
		}
		i = x.after(i, word[:bytesUsed])
	}
}

// after returns the position of the first word after i that does not begin with prefix. It
// searches with increasing steps, because that word is usually close.
func (x *Index) after(i int, prefix []byte) int {
	last, step := i, 1 // the last word that is known to begin with prefix
	for last+step < x.words() && bytes.HasPrefix(x.word(last+step), prefix) {
		last += step
		step *= 2
	}
	return last + 1 + sort.Search(min(step, x.words()-last)-1, func(k int) bool { return !bytes.HasPrefix(x.word(last+1+k), prefix) })
}

// lists returns the streets and the places that have a word.
func (x *Index) lists(word int) (streets, places postings) {
	r := x.at(secLists, number(x.parts[secWordLists], 4*word))
	size := r.uint()
	count := int(r.uint())
	body := reader{rest: r.text(size)}
	streets = postings{count: count, reader: body}
	count = r.count(1)
	return streets, postings{count: count, reader: r}
}

// postings is a list of ids, as differences.
type postings struct {
	reader
	count int
}

// each calls a function with the ids of a list.
func (p postings) each(f func(id uint32)) {
	id := uint64(0)
	for range p.count {
		id += p.uint()
		if p.bad {
			return
		}
		f(uint32(id))
	}
}

// EditDistance returns the number of edits between two texts, counting swapped letters as one
// edit. If it is more than most, it returns any number above most.
func EditDistance(a, b string, most int) int {
	s, t := []rune(a), []rune(b)
	if d := len(s) - len(t); d > most || -d > most {
		return most + 1
	}
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
