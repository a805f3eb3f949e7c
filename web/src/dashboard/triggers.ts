// Names of the triggers, by their numbers. 11 and 21 do not exist.
export const triggerNames: Record<number, string> = {
  0: 'taskStarted',
  1: 'taskEta',
  2: 'taskArrival',
  3: 'taskCompleted',
  4: 'taskFailed',
  5: 'workerDuty',
  6: 'taskCreated',
  7: 'taskUpdated',
  8: 'taskDeleted',
  9: 'taskAssigned',
  10: 'taskUnassigned',
  12: 'taskDelayed',
  13: 'taskCloned',
  14: 'smsRecipientResponseMissed',
  15: 'workerCreated',
  16: 'workerDeleted',
  17: 'SMSRecipientOptOut',
  18: 'autoDispatchJobCompleted',
  19: 'taskBatchCreateJobCompleted',
  20: 'routeOptimizationJobCompleted',
  22: 'routePlanCreated',
  23: 'routePlanStarted',
  24: 'routePlanCompleted',
  25: 'workerUpdated',
  26: 'routePlanUpdated',
  27: 'routePlanUnassigned',
  28: 'routePlanAssigned',
  29: 'routePlanDelayed',
  30: 'predictedTaskDelay',
};

export const triggerName = (number: number): string => triggerNames[number] ?? String(number);

// thresholds are the units of the thresholds, by trigger; the others have none.
export const thresholds: Record<number, 'seconds' | 'meters'> = { 1: 'seconds', 2: 'meters', 12: 'seconds' };
