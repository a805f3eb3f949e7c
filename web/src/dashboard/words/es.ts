import type { Words } from '../words.ts';
import en from './en.ts';

export default { ...en } satisfies Words;
