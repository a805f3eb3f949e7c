package road

// heaped is an entry of a heap.
type heaped struct {
	weight weight
	value  uint32
}

// minHeap is a heap with the smallest weight first. Entries whose weight became
// smaller are pushed again, and the old ones are skipped.
type minHeap []heaped

func (h *minHeap) push(w weight, value uint32) {
	*h = append(*h, heaped{w, value})
	all := *h
	i := len(all) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if all[parent].weight <= w {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = heaped{w, value}
}

func (h *minHeap) pop() (weight, uint32) {
	all := *h
	top, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	if len(all) == 0 {
		return top.weight, top.value
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= len(all) {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, len(all)); c++ {
			if all[c].weight < all[least].weight {
				least = c
			}
		}
		if all[least].weight >= last.weight {
			break
		}
		all[i] = all[least]
		i = least
	}
	all[i] = last
	return top.weight, top.value
}
