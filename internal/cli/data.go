package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"

	"dray/internal/app"
	"dray/internal/geo"
	"dray/internal/store/backup"
)

// errDamaged is the error of fsck when it finds damage.
var errDamaged = errors.New("the data is damaged; restore the newest good backup with `dray restore`")

// errDamagedBackup is the error of backup verify when it finds damage.
var errDamagedBackup = errors.New("the backup cannot be trusted")

// fileArgument returns the only argument of a command, the name of a file.
func (inv *invocation) fileArgument() (string, error) {
	if len(inv.Args) != 1 {
		return "", usageErrorf("name one file")
	}
	return inv.Args[0], nil
}

func backupCommand() command {
	return command{
		name: "backup", args: "FILE", summary: "Back up all data to a file, also while a server is running",
		examples: []string{"dray backup monday.db", "dray backup --database postgres://dray@db/dray monday.db"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			without := f.Bool("without-uploads", false, "omit signatures and photos stored on disk")
			return func(ctx context.Context, inv *invocation) error {
				if len(inv.Args) > 0 && inv.Args[0] == "create" { // the verb of other commands, not a file
					return usageErrorf("there is no command backup create: name the file, as in `dray backup monday.db`")
				}
				file, err := inv.fileArgument()
				if err != nil {
					return err
				}
				var image backup.Image
				if !*without {
					image = inv.Config.UploadFolder().Get
				}
				if err := backup.Write(ctx, inv.Config.Storage(inv.logger(), inv.progress.report), file, image); err != nil {
					return err
				}
				// The backup succeeds even if the database cannot be written.
				if err := backup.Record(ctx, inv.Config.Storage(inv.logger(), nil)); err != nil {
					fmt.Fprintf(inv.errs, "dray backup: warning: the time of the backup is not saved: %v\n", err)
				}
				images := "images in a bucket"
				if *without {
					images = "images on disk or in a bucket"
				}
				return inv.print(map[string]string{"file": file}, "%s contains everything except the master key and %s; keep copies of those elsewhere.\n", file, images)
			}
		},
	}
}

func backupVerifyCommand() command {
	return command{
		name: "backup verify", args: "FILE", summary: "Check that a backup is intact and can be restored",
		examples: []string{"dray backup verify monday.db", "dray backup verify monday.db --json"},
		setup: func(*flag.FlagSet, *app.Config) func(context.Context, *invocation) error {
			return func(ctx context.Context, inv *invocation) error {
				file, err := inv.fileArgument()
				if err != nil {
					return err
				}
				found, err := backup.Verify(ctx, inv.Config.Storage(inv.logger(), inv.progress.report), file)
				if errors.Is(err, backup.ErrDamaged) {
					return fmt.Errorf("%w: %w", errDamagedBackup, err)
				}
				if err != nil {
					return err
				}
				if found.Digest == "" {
					return inv.print(found, "%s has no digest, because an older version made it. No damage was found, but a changed value cannot be noticed.\n", file)
				}
				return inv.print(found, "%s is intact (schema %d, SHA-256 %s).\n", file, found.Schema, found.Digest)
			}
		},
	}
}

func restoreCommand() command {
	return command{
		name: "restore", args: "FILE", summary: "Fill an empty data folder or database from a backup",
		examples: []string{"dray restore monday.db --data fresh-folder", "dray restore monday.db --database postgres://dray@db/dray"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			force := f.Bool("force", false, "restore a damaged backup that can still be read")
			return func(ctx context.Context, inv *invocation) error {
				file, err := inv.fileArgument()
				if err != nil {
					return err
				}
				found, err := backup.Restore(ctx, inv.Config.Storage(inv.logger(), inv.progress.report), file, *force)
				if errors.Is(err, backup.ErrDamaged) && !*force {
					return fmt.Errorf("%w (--force restores it if it can still be read)", err)
				}
				if err != nil {
					return err
				}
				switch {
				case found.Damage != "":
					fmt.Fprintf(inv.errs, "dray restore: warning: %s; values may be wrong or missing\n", found.Damage)
				case found.Digest == "":
					fmt.Fprintf(inv.errs, "dray restore: warning: %s has no digest, because an older version made it: no damage was found, but a changed value cannot be noticed\n", file)
				}
				return inv.print(found, "%s is restored. Install the master key that belongs to it before you start the server.\n", file)
			}
		},
	}
}

func fsckCommand() command {
	return command{
		name: "fsck", summary: "Check the integrity and consistency of the data",
		examples: []string{"dray fsck", "dray fsck --json --database postgres://dray@db/dray"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			c.BindStorage(f)
			return func(ctx context.Context, inv *invocation) error {
				report, err := backup.Check(ctx, inv.Config.Storage(inv.logger(), inv.progress.report))
				if errors.Is(err, backup.ErrDamaged) {
					return fmt.Errorf("%w (%w)", errDamaged, err)
				}
				if err != nil {
					return err
				}
				if warning := inv.Config.MasterKeyWarning(); warning != "" {
					report.Warnings = append(report.Warnings, warning)
					fmt.Fprintf(inv.errs, "dray fsck: warning: %s\n", warning)
				}
				text := strings.Join(append(report.Problems, ""), "\n")
				if err := inv.print(report, "%s%d records checked, %d problems.\n", text, report.Records, len(report.Problems)); err != nil {
					return err
				}
				if len(report.Problems) > 0 {
					return errDamaged
				}
				return nil
			}
		},
	}
}

func versionCommand() command {
	return command{
		name: "version", summary: "Print the version",
		examples: []string{"dray version", "dray version --json"},
		setup: func(*flag.FlagSet, *app.Config) func(context.Context, *invocation) error {
			return func(_ context.Context, inv *invocation) error {
				result := map[string]string{
					"version": app.Version, "interface": "2.6", "sqlite": app.SQLiteVersion(),
					"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "data": geo.Credit,
				}
				return inv.print(result, "%s", fmt.Sprintf("dray %s (API v2 revision 2.6, SQLite %s, %s, %s)\n%s\n", app.Version, result["sqlite"], result["go"], result["platform"], geo.Credit))
			}
		},
	}
}
