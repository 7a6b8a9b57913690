// The environment variables of ours that are no settings: places, ids and switches. The
// configuration knows these and warns about any other name that begins as ours do.

/** The variables by what they are for. */
export const ownVariables = {
  /** The state directory. */
  home: 'UNTILDONE_HOME',
  /** Set for everything beneath a session, so that an agent cannot approve itself. */
  session: 'UNTILDONE_SESSION',
  /**
   * Our plugins in hosts set it for the commands of an agent: the id of that agent's
   * session.
   */
  agentSession: 'UNTILDONE_AGENT_SESSION',
  /** Finds the processes of a command, also those in other groups. */
  process: 'UNTILDONE_PROCESS',
  /**
   * pi passes it to the processes that its agent starts: `PID:SESSION`. A pi among them
   * is its subagent.
   */
  parent: 'UNTILDONE_PI',
  /**
   * A notice for the program that tells it, because other users cannot read an
   * environment.
   */
  notice: 'UNTILDONE_NOTICE',
  /** Prints the stack of a failure. */
  debug: 'UNTILDONE_DEBUG',
  /** Switches of our own tests. */
  propertyRuns: 'UNTILDONE_PROPERTY_RUNS',
  mutation: 'UNTILDONE_MUTATION',
  mutationMarker: 'UNTILDONE_MUTATION_MARKER',
} as const;
