package gazetteer

// Packed is the embedded file.
func Packed() string { return packed }
