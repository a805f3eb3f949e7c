package mapdata

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Protect makes a query of a mapped file fail with the error damaged where a damaged file
// would end the program: at an index out of range, or a page of the file that cannot be read.
// It is called at the beginning of every query and in all of its goroutines:
//
//	defer mapdata.Protect(&err, ErrDamaged)()
func Protect(err *error, damaged error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			fault, ok := r.(runtime.Error)
			if !ok {
				panic(r) //nolint:forbidigo // not from a damaged file: not ours to hide
			}
			*err = fmt.Errorf("%w (%w)", damaged, fault)
		}
	}
}
