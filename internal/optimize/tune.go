package optimize

import (
	"os"
	"strconv"
)

func tune(name string, v float64) float64 {
	if t := os.Getenv("TUNE_" + name); t != "" {
		v, _ = strconv.ParseFloat(t, 64)
	}
	return v
}
