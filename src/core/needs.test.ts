import { describe, expect, it } from 'vitest';
import { anEvent, aSession } from '../../test/support/builders.ts';
import type { TodoChanges } from './events.ts';
import { needs } from './needs.ts';
import { noNeeds } from './rows.ts';
import type { ParkedStop } from './session.ts';

const parked: ParkedStop = {
  eventId: 'stop-1',
  at: 0,
  end: 'normal',
  question: false,
  toolError: null,
  fingerprint: null,
  cause: 'recovering',
};
const forStop = { ...noNeeds, next: 4, failed: 2 };

describe('which rows an event touches', () => {
  it('design: only a whole-list write asks for the whole plan', () => {
    for (const build of Object.values(anEvent)) {
      const event = build();
      expect(needs(aSession({ parked }), event).plan, event.type).toBe(event.type === 'plan-written');
    }
  });

  it('design: changes of one todo ask for that one', () => {
    const one = { ...noNeeds, ids: ['x'] };
    expect(needs(aSession(), anEvent.todoCompleted({ todoId: 'x' }))).toEqual(one);
    expect(needs(aSession(), anEvent.checkStarted({ todoId: 'x' }))).toEqual(one);
    expect(needs(aSession(), anEvent.checkStarted({ todoId: null }))).toEqual(noNeeds);
    expect(needs(aSession(), anEvent.checkFinished({ todoId: 'x' }))).toEqual(one);
    const updated = (changes: TodoChanges) =>
      needs(aSession(), anEvent.todoUpdated({ todoId: 'x', changes }));
    expect(updated({ priority: 'high' })).toEqual(one);
    expect(updated({ status: 'in_progress' }), 'to see whether another one is').toEqual({
      ...one,
      inProgress: 2,
    });
  });

  it('T7: new todos ask for their ids and for open ones of the same title', () => {
    const items = [{ id: 'a', title: ' Write THE parser. ' }];
    expect(needs(aSession(), anEvent.todosCreated({ items }))).toMatchObject({
      ids: ['a'],
      titleKeys: ['write the parser'],
    });
  });

  it('G7: a fingerprint is looked up wherever one may come in', () => {
    for (const build of [anEvent.humanSpoke, anEvent.workspaceSeen, anEvent.stopAttempted]) {
      expect(needs(aSession(), build({ fingerprint: 'tree-1' })).fingerprint).toBe('tree-1');
    }
  });

  it('G5: a stop attempt asks for the next todos, the dropped ones and those to verify, when there are any', () => {
    expect(needs(aSession(), anEvent.stopAttempted())).toEqual(forStop);
    const session = aSession();
    const counts = { ...session.counts, unnamedDrops: 3, unverified: 2 };
    expect(needs({ ...session, counts }, anEvent.stopAttempted())).toEqual({
      ...forStop,
      dropped: 50,
      unverified: 500,
    });
    expect(needs(aSession(), anEvent.humanResumed())).toEqual(forStop);
  });

  it('G3: whatever can end a wait asks for the same rows, while a stop attempt waits', () => {
    const ends = [
      anEvent.checkFinished(),
      anEvent.checksOverdue(),
      anEvent.timerFired(),
      anEvent.recoveryEnded(),
      anEvent.compactionEnded(),
      anEvent.permissionAnswered(),
      anEvent.questionAnswered(),
      anEvent.backgroundEnded(),
    ];
    for (const event of ends) {
      expect(needs(aSession({ parked }), event), event.type).toEqual(forStop);
      expect(needs(aSession(), event), event.type).toEqual(noNeeds);
    }
  });
});
