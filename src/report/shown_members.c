/* TRUSTED. What pages for people show of a certificate. */
#include "report/shown_members.h"

#include <string.h>

const tki_shown tki_shown_errors[] = {
    {"result.elements", "elements judged"},
    {"result.accepted.worst_ulp", "worst error of an accepted element, ulp"},
    {"result.accepted.near_zero", "accepted within their bound of zero, where an ulp says little"},
    {"result.accepted.at_overflow", "accepted at overflow, infinity against a finite number"},
    {"result.bound_used", "largest share of the bound used"},
    {"result.absolute_error", "largest absolute error"},
    {"result.row_sum_error", "largest distance of a row sum from 1"},
    {0}};

const tki_shown tki_shown_effort[] = {{"result.refined", "elements that needed refinement"},
                                      {"result.undecided", "elements accepted undecided"},
                                      {"result.undefined", "elements without a bound"},
                                      {"result.determinism", "determinism reached"},
                                      {"result.kernel_seconds", "kernel seconds under test"},
                                      {"result.judge_seconds", "seconds spent judging"},
                                      {"result.seconds", "seconds in all"},
                                      {0}};

const tki_shown tki_shown_coverage[] = {{"coverage.lines.count", "lines that hold code"},
                                        {"coverage.lines.run", "of them run under judgement"},
                                        {"coverage.blocks", "blocks entered"},
                                        {"coverage.edges", "steps from block to block"},
                                        {"coverage.calls", "calls made to find out more"},
                                        {"coverage.found", "trials judged because of them"},
                                        {"coverage.unwatched", "trials too large to be watched"},
                                        {0}};

const tki_shown tki_shown_limits[] = {{"run.limits.memory_bytes", "memory in bytes"},
                                      {"run.limits.tasks", "tasks"},
                                      {"run.limits.output_bytes", "bytes of a file"},
                                      {"run.limits.folder_depth", "folders in each other"},
                                      {"run.limits.total_seconds", "seconds of the whole judgement"},
                                      {0}};

const tki_shown tki_shown_built[] = {{"built.source", "source"},
                                     {"built.source_sha256", "source SHA-256"},
                                     {"built.compiler", "compiler"},
                                     {"built.options", "options"},
                                     {"built.artifact", "artifact"},
                                     {"built.artifact_sha256", "artifact SHA-256"},
                                     {"built.note", "note"},
                                     {"key", "key"},
                                     {"integrity.sha256", "certificate SHA-256"},
                                     {0}};

const tki_shown tki_shown_machine[] = {{"machine.backend", "backend"},
                                       {"machine.device", "device"},
                                       {"machine.claimed_device", "device, as claimed"},
                                       {"machine.uuid", "UUID"},
                                       {"machine.architecture", "architecture"},
                                       {"machine.driver", "driver"},
                                       {"machine.units", "units"},
                                       {"machine.memory_bytes", "memory in bytes"},
                                       {"machine.host", "host"},
                                       {"machine.features", "features"},
                                       {0}};

const tki_shown tki_shown_refuted[] = {{"elements", "wrong"},
                                       {"of_elements", "of"},
                                       {"median_up_to_ulp", "half within, ulp"},
                                       {"worst_ulp", "worst, ulp"},
                                       {"gross", "gross"},
                                       {"nan", "NaN"},
                                       {"special", "NaN or infinity due"},
                                       {0}};

const tki_shown tki_shown_kernel[] = {{"registers", "registers"},
                                      {"shared_bytes", "shared bytes"},
                                      {"stack_bytes", "stack bytes"},
                                      {"spill_store_bytes", "spilled bytes stored"},
                                      {"spill_load_bytes", "spilled bytes loaded"},
                                      {0}};

const char *tki_shown_where(const char *where)
{
    return !strcmp(where, "near_zero") ? "within its bound of zero, where an ulp says little"
                                       : "at overflow, infinity against a finite number";
}
