package contract_test

import (
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestTriggerContract(t *testing.T) {
	t.Parallel()
	c := apptest.New(t).Organization(t, "Acme")
	all := list(t, c, "/triggers")
	if len(all) != len(lastmile.TriggerNames) {
		t.Errorf("there are %d triggers, want %d", len(all), len(lastmile.TriggerNames))
	}
	for _, trigger := range all {
		sample, _ := trigger["sample"].(map[string]any)
		if sample["triggerId"] != trigger["id"] || sample["triggerName"] != trigger["name"] || trigger["description"] == "" || sample["test"] != nil {
			t.Errorf("%v has the sample %v", trigger["name"], sample)
		}
		about := 0
		for _, key := range []string{"taskId", "workerId", "routePlanId", "dispatchId", "jobId", "recipient", "from"} {
			if sample[key] != nil {
				about++
			}
		}
		if about == 0 {
			t.Errorf("the sample of %v is about nothing: %v", trigger["name"], sample)
		}
	}
	for number, state := range map[float64]float64{0: 2, 1: 2, 2: 2, 3: 3, 4: 3, 6: 0, 7: 1, 8: 0, 9: 1, 10: 0, 12: 2, 13: 0, 30: 1} {
		trigger := record(t, all, number)
		task := part(trigger, "sample", "data", "task").(map[string]any)
		if task["state"] != state || task["organization"] == "" || task["trackingURL"] == "" || task["creator"] == "" || (task["worker"] == nil) != (state == 0) {
			t.Errorf("the sample of %v has the task %v", trigger["name"], task)
		}
		if success, known := task["completionDetails"].(map[string]any)["success"]; known != (state == 3) || known && success != (number == 3) {
			t.Errorf("the task of %v is completed: %v", trigger["name"], success)
		}
	}
	if eta := record(t, all, 1.0); eta["hasThreshold"] != true || eta["sample"].(map[string]any)["etaSeconds"] != 480.0 {
		t.Errorf("taskEta is %v", eta)
	}
}
