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
	"runtime"
	"strings"

	"dray/internal/access"
	"dray/internal/durable"
	"dray/internal/store/sqlstore"
)

// The settings of an installation that concern the master key.
const (
	settingMasterKey   = "master-key"             // the key itself, when there is no file
	settingFingerprint = "master-key-fingerprint" // fingerprint of the key that seals the secrets
)

// masterKeyFile returns the file of the master key, or "" if PostgreSQL nodes share a key in
// the database.
func (c *Config) masterKeyFile() string {
	if c.MasterKey == "" && c.Database == "" {
		return filepath.Join(c.Data, "master.key")
	}
	return c.MasterKey
}

// MasterKeyWarning returns what is wrong with the permissions of the master key and the
// command that corrects them, or "".
func (c *Config) MasterKeyWarning() string {
	file := c.masterKeyFile()
	if mode, ok := exposed(file); ok {
		return fmt.Sprintf("other users can read or replace the master key (%v): chmod 600 %s", mode, file)
	}
	return ""
}

// exposed reports whether every user can read a master key or others can change it, and
// returns its permissions. Groups may read it, because containers get secrets that way.
func exposed(file string) (fs.FileMode, bool) {
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS == "windows" {
		return 0, false
	}
	mode := info.Mode().Perm()
	return mode, mode&0o027 != 0
}

// openVault opens the vault with the installation's master key. The key is in
// a file: the configured one, or master.key in the data folder of an embedded
// database. PostgreSQL nodes without a configured file share a key that is stored
// in the database, which does not protect secrets from readers of the database.
func openVault(ctx context.Context, c Config, db *sqlstore.Store, log *slog.Logger) (access.Vault, error) {
	file := c.masterKeyFile()
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
		if mode, ok := exposed(file); ok {
			log.Warn("other users can read or replace the master key", "permissions", mode.String(), "fix", "chmod 600 "+file)
		}
	}
	if err != nil {
		return access.Vault{}, err
	}
	if err := checkMasterKey(ctx, db, master); err != nil {
		return access.Vault{}, err
	}
	return access.NewVault(master)
}

// masterKeyInFile reads the key. If the file does not exist, it is created with the key from
// the database or, in a new installation, with a new key.
func masterKeyInFile(ctx context.Context, db *sqlstore.Store, file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		var first []byte
		if first, err = firstMasterKey(ctx, db, file); err == nil {
			err = writeMasterKey(file, first, os.Link)
		}
		if err != nil {
			return nil, err
		}
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read master key: %w", err)
	}
	digits := strings.TrimSpace(string(text))
	if digits == "" {
		return nil, emptyMasterKey(ctx, db, file)
	}
	master, err := hex.DecodeString(digits)
	if err != nil || len(master) != access.MasterKeySize {
		return nil, fmt.Errorf("the master key file %s does not hold %d hexadecimal digits", file, 2*access.MasterKeySize)
	}
	return master, nil
}

// emptyMasterKey returns the error for an empty file, which a crash may have left; see
// claimAndRename. It says to remove the file only if the next start can create it.
func emptyMasterKey(ctx context.Context, db *sqlstore.Store, file string) error {
	if _, err := firstMasterKey(ctx, db, file); err != nil {
		return fmt.Errorf("the master key file %s is empty: %w", file, err)
	}
	return fmt.Errorf("the master key file %s is empty, because the start that created it was interrupted: "+
		"remove the file, and the next start creates it again. Nothing that is stored is lost", file)
}

// firstMasterKey returns the key for a file that does not exist yet. It returns an
// error if the installation has sealed secrets with a key that is now missing.
func firstMasterKey(ctx context.Context, db *sqlstore.Store, file string) (master []byte, err error) {
	var fingerprint []byte
	err = db.Read(ctx, func(r *sqlstore.Tx) (err error) {
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

// writeMasterKey creates the file atomically, with a hard link if the file system has them.
// It keeps a file that another process has created meanwhile.
func writeMasterKey(file string, master []byte, link func(from, to string) error) error {
	part, err := os.CreateTemp(filepath.Dir(file), ".master-*")
	if err != nil {
		return fmt.Errorf("make master key: %w", err)
	}
	defer os.Remove(part.Name())
	_, err = part.WriteString(hex.EncodeToString(master) + "\n")
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return fmt.Errorf("make master key: %w", err)
	}
	err = link(part.Name(), file)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = claimAndRename(part.Name(), file)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make master key: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(file))
}

// claimAndRename renames a file unless the new name exists. A crash may leave an empty file
// with that name, but never a part of a key.
func claimAndRename(from, to string) error {
	claim, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(claim.Close(), os.Rename(from, to)); err != nil {
		return errors.Join(err, os.Remove(to))
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

// checkMasterKey rejects a key other than the first one of the installation.
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

// loadOrSaveSetting returns a setting of the installation. It saves value first if
// the setting does not exist.
func loadOrSaveSetting(ctx context.Context, db *sqlstore.Store, name string, value []byte) (stored []byte, err error) {
	err = db.Read(ctx, func(r *sqlstore.Tx) (err error) {
		stored, err = r.Setting(ctx, name)
		return err
	})
	if err != nil || stored != nil {
		return stored, err
	}
	err = db.Write(ctx, func(w *sqlstore.Tx) (err error) {
		if err := w.SaveSetting(ctx, name, value); err != nil {
			return err
		}
		stored, err = w.Setting(ctx, name)
		return err
	})
	return stored, err
}
