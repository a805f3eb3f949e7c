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
	if eta := record(t, all, 1.0); eta["hasThreshold"] != true || eta["sample"].(map[string]any)["etaSeconds"] != 480.0 {
		t.Errorf("taskEta is %v", eta)
	}
}
