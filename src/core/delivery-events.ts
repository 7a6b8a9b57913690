// A timer fires, or a continuation is on its way into a told host (design: "Delivery").
import type { EventBase } from './event-base.ts';

export interface TimerFired extends EventBase {
  readonly type: 'timer-fired';
  readonly epoch: number;
  readonly dueAt: number;
}
export interface InjectionSent extends EventBase {
  readonly type: 'injection-sent';
  readonly epoch: number;
}
export interface InjectionFailed extends EventBase {
  readonly type: 'injection-failed';
  readonly epoch: number;
  readonly error: string;
}
export interface InjectionObserved extends EventBase {
  readonly type: 'injection-observed';
  readonly epoch: number;
}
/** After a restart: it was on its way when the process ended, and the host does not show it. */
export interface InjectionLost extends EventBase {
  readonly type: 'injection-lost';
  readonly epoch: number;
}
/** The host takes no further continuation of this turn, whatever we answer: its own limit was reached (V8). */
export interface HostCapReached extends EventBase {
  readonly type: 'host-cap-reached';
  readonly cap: number;
}
