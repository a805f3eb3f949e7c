package access

// The tests hash hundreds of passwords.
func init() { today = Cost{Memory: 64, Time: 1, Threads: 1} }

// OldHash returns the hash of a password with a cost that was used before.
func OldHash(password string) string {
	old, salt := Cost{Memory: 128, Time: 2, Threads: 1}, newSalt()
	return passwordHash{Cost: old, salt: salt, sum: old.derive(password, salt, 16)}.String()
}

// IsCurrentHash reports whether a hash has the cost of new ones.
func IsCurrentHash(hash string) bool {
	h, err := parseHash(hash)
	return err == nil && h.Cost == today && len(h.sum) == hashSize
}
