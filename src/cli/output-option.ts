import { Option } from "commander";
import type { OutputFormat } from "./format-output.ts";

/** `-o json` and `-o yaml`, the same at each command that tells what is there. */
export const outputForPrograms = () =>
  new Option("-o, --output <format>", "for programs").choices(["json", "yaml"] satisfies OutputFormat[]);

/** The same where people may ask for more columns, too. */
export const outputWithWide = () =>
  new Option("-o, --output <format>", "more columns, or all there is").choices(["wide", "json", "yaml"] satisfies (
    | "wide"
    | OutputFormat
  )[]);
