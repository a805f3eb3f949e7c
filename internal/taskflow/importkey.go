package taskflow

import (
	"errors"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// MaxImportKey is the maximum number of characters of an import key.
const MaxImportKey = 100

// checkImportKey rejects a draft with an invalid import key.
func checkImportKey(d lastmile.TaskDraft) error {
	if d.ImportKey == nil {
		return nil
	}
	if *d.ImportKey == "" {
		return lastmile.Invalid("importKey must have 1 to %d characters", MaxImportKey)
	}
	return lastmile.CheckText("importKey", *d.ImportKey, MaxImportKey)
}

// checkUnused rejects an import key that has been used.
func checkUnused(used store.UsedKeys, key string) error {
	task, found := used[key]
	if !found {
		return nil
	}
	return &lastmile.Error{
		Code:    lastmile.CodeDuplicate,
		Message: "importKey has been used already, to create task " + string(task),
		Key:     &lastmile.DuplicateKey{Key: "importKey", Value: key, ID: string(task)},
	}
}

// rejectUsed returns the error of saving a task, converted to a rejection if the import
// key of the task has been used.
func rejectUsed(err error, task lastmile.Task) error {
	if used, ok := errors.AsType[store.UsedKeys](err); ok {
		return checkUnused(used, task.ImportKey)
	}
	return err
}
