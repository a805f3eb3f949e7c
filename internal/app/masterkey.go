package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"dray/internal/access"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// The settings of an installation that concern the master key.
const (
	settingMasterKey   = "master-key"             // the key itself, where no file is given
	settingFingerprint = "master-key-fingerprint" // of the key that seals its secrets
)

// openVault opens the vault with the installation's master key. The key is in
// a file: the one that is set, or master.key in the data folder of an embedded
// database. Nodes on PostgreSQL that are given no file share a key in the
// database, which protects nothing against whoever can read it.
func openVault(ctx context.Context, c Config, db *sqlstore.Store, log *slog.Logger) (access.Vault, error) {
	file := c.MasterKey
	if file == "" && c.Database == "" {
		file = filepath.Join(c.Data, "master.key")
	}
	var (
		master []byte
		err    error
	)
	if file == "" {
		if master, err = masterKeyInDatabase(ctx, db); err == nil {
			log.Warn("secrets are sealed with a key that is stored beside them; give every node the same --master-key-file")
		}
	} else {
		master, err = masterKeyInFile(ctx, db, file)
	}
	if err != nil {
		return access.Vault{}, err
	}
	if err := checkMasterKey(ctx, db, master); err != nil {
		return access.Vault{}, err
	}
	return access.NewVault(master)
}

// masterKeyInFile reads the key. Where there is no file, it makes one: of the
// key that the database holds, or of a new one if the installation is new.
func masterKeyInFile(ctx context.Context, db *sqlstore.Store, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		var first []byte
		if first, err = firstMasterKey(ctx, db, file); err == nil {
			err = writeMasterKey(file, first)
		}
		if err != nil {
			return nil, err
		}
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	master, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(master) != access.MasterKeySize {
		return nil, fmt.Errorf("the master key file %s does not hold %d hexadecimal digits", file, 2*access.MasterKeySize)
	}
	return master, nil
}

// firstMasterKey is the key to put into a file that does not exist yet. An
// installation that has sealed secrets with a key that is nowhere gets no
// other.
func firstMasterKey(ctx context.Context, db *sqlstore.Store, file string) (master []byte, err error) {
	var fingerprint []byte
	err = db.Read(ctx, func(r store.Reader) (err error) {
		if master, err = r.Setting(ctx, settingMasterKey); err != nil {
			return err
		}
		fingerprint, err = r.Setting(ctx, settingFingerprint)
		return err
	})
	switch {
	case err != nil || master != nil:
		return master, err
	case fingerprint != nil:
		return nil, fmt.Errorf("the master key %s is missing: put the key with the fingerprint %s, which went with this data, in its place", file, fingerprint)
	}
	return newMasterKey(), nil
}

// writeMasterKey makes the file whole or not at all, and never twice.
func writeMasterKey(file string, master []byte) error {
	part, err := os.CreateTemp(filepath.Dir(file), ".master-*")
	if err != nil {
		return fmt.Errorf("make master key: %w", err)
	}
	defer os.Remove(part.Name())
	_, err = part.WriteString(hex.EncodeToString(master) + "\n")
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return fmt.Errorf("make master key: %w", err)
	}
	if err := os.Link(part.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make master key: %w", err)
	}
	return nil
}

func newMasterKey() []byte {
	master := make([]byte, access.MasterKeySize)
	rand.Read(master)
	return master
}

func masterKeyInDatabase(ctx context.Context, db *sqlstore.Store) ([]byte, error) {
	return loadOrSaveSetting(ctx, db, settingMasterKey, newMasterKey())
}

// checkMasterKey refuses a key other than the one the installation began with.
func checkMasterKey(ctx context.Context, db *sqlstore.Store, master []byte) error {
	fingerprint := access.Fingerprint(master)
	stored, err := loadOrSaveSetting(ctx, db, settingFingerprint, []byte(fingerprint))
	if err != nil {
		return err
	}
	if string(stored) != fingerprint {
		return fmt.Errorf("the secrets of this database are sealed with another master key (fingerprint %s, not %s): "+
			"give the file of that key with --master-key-file", stored, fingerprint)
	}
	return nil
}

// loadOrSaveSetting returns a setting of the installation, storing value if there is none
// yet.
func loadOrSaveSetting(ctx context.Context, db *sqlstore.Store, name string, value []byte) (stored []byte, err error) {
	err = db.Read(ctx, func(r store.Reader) (err error) {
		stored, err = r.Setting(ctx, name)
		return err
	})
	if err != nil || stored != nil {
		return stored, err
	}
	err = db.Write(ctx, func(w store.Writer) (err error) {
		if err := w.SaveSetting(ctx, name, value); err != nil {
			return err
		}
		stored, err = w.Setting(ctx, name)
		return err
	})
	return stored, err
}
