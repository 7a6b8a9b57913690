// The writes that every store refuses because they would contradict a row that is there, with one sentence each.
// They mean a mistake in the caller, never in the input of a user: nothing of the transaction is kept.
import { UntildoneError } from '../core/untildone-error.ts';

export function todoExists(id: string): UntildoneError {
  return refused(`a todo with the id ${JSON.stringify(id)} exists already`);
}

export function todoMissing(id: string): UntildoneError {
  return refused(`there is no todo with the id ${JSON.stringify(id)} to update`);
}

export function ledgerForked(planId: string, sequence: number): UntildoneError {
  return refused(`the ledger of plan ${JSON.stringify(planId)} has an entry ${sequence} already`);
}

export function storeClosed(): UntildoneError {
  return new UntildoneError('store-unavailable', 'The store is closed.');
}

export function transactionEnded(): UntildoneError {
  return new UntildoneError('store-unavailable', 'This transaction has already ended.');
}

function refused(why: string): UntildoneError {
  return new UntildoneError('store-unavailable', `The store refused a write: ${why}.`);
}
