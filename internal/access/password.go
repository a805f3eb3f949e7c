package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Limits of the queue for hashing. A hash takes about 20 ms and 19 MiB.
const (
	maxHashing   = 2   // maximum concurrent hashes, on a machine with at least four processors
	maxWaiting   = 128 // maximum callers that hash or wait, on a node
	maxWaitingOf = 16  // maximum of these of one network or device

	// newcomers is the number of callers up to which unknown devices are admitted. The
	// rest of maxWaiting is for devices that have signed in before.
	newcomers = maxWaiting * 3 / 4
)

// Passwords limits concurrent hashing, because it is expensive. If the queue is full, a
// caller is rejected instead of adding to the waiting time of others. Devices that have
// signed in before and other callers take turns, so that known devices wait for few others.
type Passwords struct {
	Cost Cost // of new hashes

	slots   int // maximum concurrent hashes; half of the processors are left for other work
	mu      sync.Mutex
	total   int
	waiting map[string]int     // by caller
	hashing int                // callers that have a slot
	queues  [2][]chan struct{} // waiting callers: unknown devices, and devices that have signed in before
	last    int                // the queue that got the last slot
}

// NewPasswords returns a Passwords.
func NewPasswords() *Passwords {
	return &Passwords{Cost: today, waiting: map[string]int{}, slots: max(1, min(maxHashing, runtime.GOMAXPROCS(0)/2))}
}

// Enter waits for a slot. known means that the caller has signed in before. The caller keeps
// the slot until it calls leave.
func (p *Passwords) Enter(ctx context.Context, caller string, known bool) (leave func(), err error) {
	if !p.join(caller, known) {
		return nil, tooManySignIns(time.Second)
	}
	leave = func() {
		p.release()
		p.part(caller)
	}
	turn, of := p.queue(known)
	select {
	case <-turn:
	case <-ctx.Done():
		if p.abandon(turn, of) {
			p.part(caller)
		} else { // it got a slot at the same time
			leave()
		}
		return nil, ctx.Err()
	}
	return leave, nil
}

// queue returns a channel that is closed when the caller gets a slot, and its queue.
func (p *Passwords) queue(known bool) (turn chan struct{}, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn = make(chan struct{})
	if known {
		of = 1
	}
	if p.hashing < p.slots {
		p.hashing++
		close(turn)
	} else {
		p.queues[of] = append(p.queues[of], turn)
	}
	return turn, of
}

// abandon removes a caller from its queue. It returns false if the caller got a slot.
func (p *Passwords) abandon(turn chan struct{}, of int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.queues[of], turn)
	if at < 0 {
		return false
	}
	p.queues[of] = slices.Delete(p.queues[of], at, at+1)
	return true
}

// release passes a slot on to the next caller.
func (p *Passwords) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range []int{1 - p.last, p.last} {
		if queue := p.queues[of]; len(queue) > 0 {
			close(queue[0])
			p.queues[of], p.last = queue[1:], of
			return
		}
	}
	p.hashing--
}

func (p *Passwords) join(caller string, known bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[caller] >= maxWaitingOf || p.total >= maxWaiting || (!known && p.total >= newcomers) {
		return false
	}
	p.waiting[caller]++
	p.total++
	return true
}

func (p *Passwords) part(caller string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total--
	if p.waiting[caller]--; p.waiting[caller] == 0 {
		delete(p.waiting, caller)
	}
}

// Cost is the cost of a password hash.
type Cost struct {
	Memory  uint32 // KiB
	Time    uint32
	Threads uint8
}

// today is the cost of new hashes: OWASP's minimum for argon2id.
var today = Cost{Memory: 19 * 1024, Time: 2, Threads: 1}

const (
	hashSize = 32
	saltSize = 16
)

// passwordHash is the hash of a password chosen by its owner.
type passwordHash struct {
	Cost
	salt, sum []byte
}

// hash returns the hash of a password.
func (c Cost) hash(password string, salt []byte) passwordHash {
	return passwordHash{Cost: c, salt: salt, sum: c.derive(password, salt, hashSize)}
}

func (c Cost) derive(password string, salt []byte, size int) []byte {
	return argon2.IDKey([]byte(password), salt, c.Time, c.Memory, c.Threads, uint32(size)) // a few bytes
}

func newSalt() []byte {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	return salt
}

// String returns the hash as it is stored.
func (h passwordHash) String() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.Memory, h.Time, h.Threads, encode(h.salt), encode(h.sum))
}

// parseHash parses the result of passwordHash.String.
func parseHash(text string) (h passwordHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, fmt.Errorf("a password hash of an unknown form")
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.Memory, &h.Time, &h.Threads); err != nil || h.Time < 1 || h.Threads < 1 {
		return h, fmt.Errorf("a password hash with invalid parameters %q", parts[3])
	}
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return h, fmt.Errorf("decode salt: %w", err)
	}
	if h.sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(h.sum) == 0 {
		return h, fmt.Errorf("decode hash: %w", err)
	}
	return h, nil
}

// Hash returns the hash, as it is stored, of a password chosen by its owner. The caller
// must have a slot.
func (p *Passwords) Hash(password string) string { return p.Cost.hash(password, newSalt()).String() }

// Verify reports whether a stored hash is that of the password, and whether it is outdated
// because new hashes have another cost. For an empty hash, it takes the same time and
// reports false. The caller must have a slot.
func (p *Passwords) Verify(password, hash string) (right, outdated bool, err error) {
	v := verifier{password: password}
	if hash == "" {
		v.equalize(p.Cost)
		return false, false, nil
	}
	h, err := parseHash(hash)
	if err != nil {
		return false, false, err
	}
	right, err = v.matches(store.Credential{Hash: hash})
	return right, h.Cost != p.Cost || len(h.sum) != hashSize, err
}

// TemporaryPasswordLifetime is how long an invitation is valid.
const TemporaryPasswordLifetime = 72 * time.Hour

// temporaryPasswordLength is the number of characters, 69 bits, of a temporary password.
// The characters are hard to confuse, because people type them.
const temporaryPasswordLength = 12

const unambiguous = "23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"

// temporaryForm is the prefix of the stored hash of a temporary password. The password is
// random and long enough for a fast hash, like API keys.
const temporaryForm = "$sha256$"

// Temporary returns the password with which an invited worker signs in, and the
// credential to store.
func (*Passwords) Temporary(org lastmile.OrganizationID, worker lastmile.WorkerID, now time.Time) (string, store.Credential) {
	password := randomText(temporaryPasswordLength, unambiguous)
	return password, store.Credential{
		Organization: org, Worker: worker, Hash: temporaryHash(worker, password), Temporary: true, Expires: now.Add(TemporaryPasswordLifetime),
	}
}

func temporaryHash(worker lastmile.WorkerID, password string) string {
	sum := sha256.Sum256([]byte(string(worker) + " " + password))
	return temporaryForm + base64.RawStdEncoding.EncodeToString(sum[:])
}

// verifier compares one password with the hashes of several credentials. It computes one
// slow hash for each salt and cost.
type verifier struct {
	password string
	sums     map[string][]byte
}

// matches reports whether the password matches the credential.
func (v *verifier) matches(c store.Credential) (bool, error) {
	if strings.HasPrefix(c.Hash, temporaryForm) {
		return subtle.ConstantTimeCompare([]byte(temporaryHash(c.Worker, v.password)), []byte(c.Hash)) == 1, nil
	}
	h, err := parseHash(c.Hash)
	if err != nil {
		return false, err
	}
	key := fmt.Sprint(h.Cost, string(h.salt), len(h.sum))
	if v.sums[key] == nil {
		if v.sums == nil {
			v.sums = map[string][]byte{}
		}
		v.sums[key] = h.derive(v.password, h.salt, len(h.sum))
	}
	return subtle.ConstantTimeCompare(v.sums[key], h.sum) == 1, nil
}

// equalize makes a comparison take as long as one with a password that a worker chose, so
// that response times do not reveal whether there is one.
func (v *verifier) equalize(c Cost) {
	if len(v.sums) == 0 {
		c.derive(v.password, newSalt(), hashSize)
	}
}

// sharedSalt returns the salt for a password of a worker with these credentials, which are
// those of a phone number in all organizations. They share a salt, so that one hash decides
// whether a password is that of any of them.
func (p *Passwords) sharedSalt(known []store.Credential) []byte {
	for _, c := range known {
		if h, err := parseHash(c.Hash); err == nil && !c.Temporary && h.Cost == p.Cost {
			return h.salt
		}
	}
	return newSalt()
}

// randomText returns random characters of an alphabet, which has at most 256, all with the
// same probability.
func randomText(length int, alphabet string) string {
	limit := 256 - 256%len(alphabet)
	text := make([]byte, 0, length)
	buffer := make([]byte, length)
	for len(text) < length {
		rand.Read(buffer)
		for _, b := range buffer {
			if int(b) < limit && len(text) < length {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}

// RandomSecret returns random letters and digits.
func RandomSecret(length int) string { return randomText(length, base62) }

// RandomShortID returns eight random hexadecimal digits.
func RandomShortID() string { return randomText(8, "0123456789abcdef") }
