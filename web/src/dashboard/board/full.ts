// A task as the API returns it.

import type { Address, Point } from '../wire.ts';
import type { Container } from './wire.ts';

export interface FullTask {
  id: string;
  shortId: string;
  orderShortId: string | null;
  timeCreated: number;
  timeLastModified: number;
  organization: string;
  executor: string;
  trackingURL: string;
  trackingViewed: boolean;
  worker: string | null;
  state: number;
  completeAfter: number | null;
  completeBefore: number | null;
  pickupTask: boolean;
  notes: string;
  quantity: number;
  serviceTime: number;
  priority: number;
  container?: Container;
  dependencies: string[];
  didAutoAssign?: boolean;
  requirements: { signature: boolean; photo: boolean; notes: boolean; minimumAge: number };
  customFields: { key: string; name: string; value: unknown }[];
  metadata: { name: string; value: unknown }[];
  feedback: { time: number; rating: number; comments: string }[];
  barcodes: { captured: { data: string; symbology: string; time: number; wasRequested: boolean }[] };
  completedWithGeofenceWarning: boolean;
  completionDetails: {
    success?: boolean;
    time: number | null;
    notes?: string;
    failureNotes: string;
    successNotes: string;
    failureReason: string;
    events: { name: string; time: number; location?: Point }[];
    lastLocation: Point | [];
    signatureUploadId: string | null;
    signatureText?: string;
    photoUploadId: string | null;
    photoUploadIds: string[] | null;
  };
  recipients: { id: string; name: string; phone: string; notes: string }[];
  destination: { id: string; location: Point; address: Address; notes: string; warnings: string[] };
  estimatedArrivalTime: number | null;
  estimatedCompletionTime: number | null;
  delayTime: number | null;
}

export const picture = (id: string): string => `/api/v2/uploads/${encodeURIComponent(id)}`;

// picturesOf returns the photos of a task.
export const picturesOf = ({ completionDetails: { photoUploadIds, photoUploadId } }: FullTask): string[] =>
  photoUploadIds ?? (photoUploadId ? [photoUploadId] : []);

// proven reports whether there is a completion to show.
export const proven = (task: FullTask): boolean => task.state === 3;
