package access

// The tests hash hundreds of passwords.
func init() { today = cost{Memory: 64, Time: 1, Threads: 1} }

// OldHash returns the hash of a password with a cost that was used before.
func OldHash(password string) string {
	old, salt := cost{Memory: 128, Time: 2, Threads: 1}, newSalt()
	return passwordHash{cost: old, salt: salt, sum: old.derive(password, salt, 16)}.String()
}

// IsCurrentHash reports whether a hash has the cost of new ones.
func IsCurrentHash(hash string) bool {
	h, err := parseHash(hash)
	return err == nil && h.cost == today && len(h.sum) == hashSize
}
