import type { CostBudget } from "./budget.ts";
import type { Checked } from "./check.ts";
import type { Expression } from "./expression.ts";
import type { CelValue } from "./values.ts";

/** One evaluation: what it may use, and the variables of its macros. */
export interface Frame {
  readonly budget: CostBudget;
  /** The value of a variable of the environment. */
  readVariable(name: string): CelValue | undefined;
  readonly locals: CelValue[];
}

/** A part of a program. */
export type ProgramStep = (frame: Frame) => CelValue;

/** Turns parts of an expression into steps. */
export interface Planner {
  readonly checked: Checked;
  /** A type that can be named, as a value. */
  findType(name: string): CelValue | undefined;
  /** Where the variables of macros are in `locals`. */
  readonly slots: ReadonlyMap<string, number>;
  plan(expression: Expression, slots?: ReadonlyMap<string, number>): ProgramStep;
}
