package access

import "testing"

func TestVerify(t *testing.T) {
	passwords := NewPasswords()
	passwords.Cost = Cost{Memory: 64, Time: 1, Threads: 1}
	old, salt := Cost{Memory: 128, Time: 2, Threads: 1}, newSalt()
	outdated := passwordHash{Cost: old, salt: salt, sum: old.derive("correct horse", salt, 16)}.String()
	current := passwords.Hash("correct horse")
	tests := map[string]struct {
		password, hash  string
		right, outdated bool
	}{
		"the right password":            {"correct horse", current, true, false},
		"a wrong password":              {"correct mouse", current, false, false},
		"an older hash of the password": {"correct horse", outdated, true, true},
		"no hash":                       {"correct horse", "", false, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			right, outdated, err := passwords.Verify(tt.password, tt.hash)
			if err != nil || right != tt.right || outdated != tt.outdated {
				t.Errorf("right %t, outdated %t, %v; want %t, %t", right, outdated, err, tt.right, tt.outdated)
			}
		})
	}
	if _, _, err := passwords.Verify("x", "damaged"); err == nil {
		t.Error("a damaged hash is not an error")
	}
}
