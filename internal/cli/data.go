package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"runtime"
	"strings"

	"dray/internal/app"
	"dray/internal/geo"
	"dray/internal/store/backup"
	"dray/internal/store/sqlstore"
)

// errDamaged is the error of fsck when it finds damage.
var errDamaged = errors.New("the data is damaged; restore the newest good backup with `dray restore`")

func (inv *invocation) storage() sqlstore.Options {
	return sqlstore.Options{
		Data: inv.Config.Data, Database: inv.Config.Database, Now: app.Clock,
		Logger: slog.New(slog.NewTextHandler(inv.errs, &slog.HandlerOptions{Level: slog.LevelError})),
	}
}

// fileArgument is the one argument of backup and restore.
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
				file, err := inv.fileArgument()
				if err != nil {
					return err
				}
				var image backup.Image
				if !*without {
					image = inv.Config.UploadFolder().Get
				}
				if err := backup.Write(ctx, inv.storage(), file, image); err != nil {
					return err
				}
				also := ""
				if *without {
					also = " and the uploads folder"
				}
				return inv.print(map[string]string{"file": file}, "%s contains everything except the master key%s; keep a copy of that elsewhere.\n", file, also)
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
			return func(ctx context.Context, inv *invocation) error {
				file, err := inv.fileArgument()
				if err != nil {
					return err
				}
				if err := backup.Restore(ctx, inv.storage(), file); err != nil {
					return err
				}
				return inv.print(map[string]string{"file": file}, "%s is restored. Install the master key that belongs to it before you start the server.\n", file)
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
				report, err := backup.Check(ctx, inv.storage())
				if errors.Is(err, backup.ErrDamaged) {
					return fmt.Errorf("%w (%w)", errDamaged, err)
				}
				if err != nil {
					return err
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
					"version": app.Version, "interface": "2.6", "sqlite": sqlstore.SQLiteVersion(),
					"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "data": geo.Credit,
				}
				return inv.print(result, "%s", fmt.Sprintf("dray %s (interface 2.6, SQLite %s, %s, %s)\n%s\n", app.Version, result["sqlite"], result["go"], result["platform"], geo.Credit))
			}
		},
	}
}
