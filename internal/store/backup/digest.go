package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"dray/internal/store/engine/sqlite"
)

// A backup ends with a line that contains the SHA-256 of all bytes before it. SQLite
// ignores data after the last page. The application id in the header of the database says
// that the line must be there, so that a truncated file is not mistaken for a backup of an
// older version, which wrote no digests.
const (
	digestMark   = "dray backup, sha256 "
	digestLength = int64(len(digestMark) + 2*sha256.Size + 1)

	applicationID   = 0x44726179 // "Dray", in the header of the database
	applicationIDAt = 68
	pageSizeAt      = 16
	headerLength    = 100
)

// seal appends the digest to a backup.
func seal(ctx context.Context, file string) (err error) {
	db, err := sqlite.OpenFile(ctx, file, "journal_mode=MEMORY", "synchronous=OFF", fmt.Sprintf("application_id=%d", applicationID))
	if err != nil {
		return err
	}
	db.Close()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if err := sumUp(ctx, sum, f); err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s%x\n", digestMark, sum.Sum(nil)) // sumUp has read to the end
	return err
}

// sumUp adds the content of a reader to a hash until the context ends.
func sumUp(ctx context.Context, sum hash.Hash, r io.Reader) error {
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		sum.Write(buf[:n])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// damage is an error about a damaged backup.
type damage struct{ error }

// Is reports whether target is ErrDamaged.
func (damage) Is(target error) bool { return target == ErrDamaged }

// Unwrap returns the error without its mark.
func (d damage) Unwrap() error { return d.error }

// damagedf returns the error of a damaged backup.
func damagedf(format string, args ...any) error { return damage{fmt.Errorf(format, args...)} }

// checkDigest compares a backup with its digest, which it returns. The digest is empty for
// backups of older versions, which have none.
func checkDigest(ctx context.Context, file string) (digest string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() < headerLength+digestLength {
		return "", nil // not a database: opening it reports that
	}
	header, line := make([]byte, headerLength), make([]byte, digestLength)
	end := info.Size() - digestLength
	if _, err := f.ReadAt(header, 0); err != nil {
		return "", err
	}
	if _, err := f.ReadAt(line, end); err != nil {
		return "", err
	}
	sealed := bytes.HasPrefix(line, []byte(digestMark))
	claimed := binary.BigEndian.Uint32(header[applicationIDAt:]) == applicationID
	switch {
	case !sealed && !claimed:
		return "", nil
	case !sealed:
		return "", damagedf("its end with the digest is missing")
	}
	sum := sha256.New()
	if err := sumUp(ctx, sum, io.NewSectionReader(f, 0, end)); err != nil {
		return "", err
	}
	digest = hex.EncodeToString(sum.Sum(nil))
	if want := string(line[len(digestMark):]); digest+"\n" != want {
		return "", damagedf("its SHA-256 is %s and should be %q", digest, want[:len(want)-1])
	}
	return digest, nil
}

// contentLength returns the length of the database in a backup, which is whole pages.
func contentLength(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var size [2]byte
	if _, err := f.ReadAt(size[:], pageSizeAt); err != nil {
		return 0, err
	}
	page := int64(binary.BigEndian.Uint16(size[:]))
	if page < 512 { // 1 means 65,536; anything else is damage
		page = 65536
	}
	return info.Size() - info.Size()%page, nil
}
