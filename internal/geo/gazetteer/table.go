package gazetteer

import (
	"bytes"
	"sort"
)

// table is a sorted list of keys, stored as one text.
type table struct {
	text   []byte
	bounds []uint32 // start of each key; the last is the end of the text
}

func (t *table) len() int { return max(len(t.bounds)-1, 0) }

func (t *table) key(i int) []byte { return t.text[t.bounds[i]:t.bounds[i+1]] }

// find returns the range of the keys equal to key.
func (t *table) find(key []byte) (from, to int) {
	return t.findIn(0, t.len(), 0, key)
}

// findIn searches the rows [from, to), whose keys share their first depth bytes. It returns
// the range of keys whose other bytes equal rest.
func (t *table) findIn(from, to, depth int, rest []byte) (first, last int) {
	first = from + sort.Search(to-from, func(i int) bool { return bytes.Compare(t.key(from + i)[depth:], rest) >= 0 })
	for last = first; last < to && bytes.Equal(t.key(last)[depth:], rest); {
		last++
	}
	return first, last
}

// startingWith returns the range of keys with a prefix.
func (t *table) startingWith(prefix []byte) (from, to int) {
	from = sort.Search(t.len(), func(i int) bool { return bytes.Compare(t.key(i), prefix) >= 0 })
	to = from + sort.Search(t.len()-from, func(i int) bool { return !bytes.HasPrefix(t.key(from+i), prefix) })
	return from, to
}

// withLetter searches the rows [from, to), whose keys share their first depth bytes. It
// returns the range of keys that continue with letter.
func (t *table) withLetter(from, to, depth int, letter byte) (first, last int) {
	first = from + sort.Search(to-from, func(i int) bool {
		key := t.key(from + i)
		return len(key) > depth && key[depth] >= letter
	})
	return first, t.afterLetter(first, to, depth, letter)
}

// afterLetter returns the first of the rows [from, to) whose key continues with a later
// letter.
func (t *table) afterLetter(from, to, depth int, letter byte) int {
	return from + sort.Search(to-from, func(i int) bool { return t.key(from + i)[depth] > letter })
}

// near calls found with the ranges of equal keys within an edit distance from
// sought: a letter added, missing or wrong, or two swapped. Beyond one edit the
// first letter must match, which avoids most of the work. A range may be
// reported more than once, and with a larger distance than necessary.
func (t *table) near(sought []byte, edits int, found func(from, to, edits int)) {
	w := walk{table: t, sought: sought, allowed: edits, found: found}
	if edits > 1 && len(sought) > 0 {
		first, last := t.withLetter(0, t.len(), 0, sought[0])
		w.step(first, last, 1, 1, edits)
		return
	}
	w.step(0, t.len(), 0, 0, edits)
}

// walk traverses a table as a tree of letters.
type walk struct {
	*table
	sought  []byte
	allowed int
	found   func(from, to, edits int)
}

// step visits the rows [from, to). Their keys share their first depth bytes, which match the
// first at bytes of sought, with left edits remaining.
func (w *walk) step(from, to, depth, at, left int) {
	if left == 0 {
		if first, last := w.findIn(from, to, depth, w.sought[at:]); first < last {
			w.found(first, last, w.allowed)
		}
		return
	}
	ended := from // keys that end here come first
	for ended < to && len(w.key(ended)) == depth {
		ended++
	}
	if rest := len(w.sought) - at; ended > from && rest <= left {
		w.found(from, ended, w.allowed-left+rest)
	}
	if at < len(w.sought) {
		w.step(from, to, depth, at+1, left-1) // an extra letter
	}
	for from = ended; from < to; {
		letter := w.key(from)[depth]
		next := w.afterLetter(from, to, depth, letter)
		w.goOn(from, next, depth, at, left)
		from = next
	}
}

// goOn visits the rows [from, to), whose keys share one more byte.
func (w *walk) goOn(from, to, depth, at, left int) {
	w.step(from, to, depth+1, at, left-1) // a missing letter
	if at == len(w.sought) {
		return
	}
	letter := w.key(from)[depth]
	if w.sought[at] == letter {
		w.step(from, to, depth+1, at+1, left)
		return
	}
	w.step(from, to, depth+1, at+1, left-1) // a wrong letter
	if at+1 < len(w.sought) && w.sought[at+1] == letter {
		if first, last := w.withLetter(from, to, depth+1, w.sought[at]); first < last {
			w.step(first, last, depth+2, at+2, left-1) // two letters swapped
		}
	}
}
