# SPDX-License-Identifier: GPL-2.0-only
"""--config reads MQSim's ssdconfig.xml, and names the settings that the simulator lacks."""

import re
from pathlib import Path

import pytest
from selftests.lib.programs import TOP
from selftests.sim.support import Json, get_only_run, run_approxftl, run_sim

#: Another value than 1 of a parameter of the table, where 1 is not a value of it.
VALUES = {
    "PCIe_Lane_Bandwidth": "1.5", "PCIe_Lane_Count": "4", "Enabled_Preconditioning": "false",
    "Seed": "321", "Data_Cache_Capacity": "1048576", "Ideal_Mapping_Table": "true",
    "CMT_Capacity": "2097152", "Plane_Allocation_Scheme": "WDCP",
    "Overprovisioning_Ratio": "0.125", "GC_Exec_Threshold": "0.05000",
    "GC_Block_Selection_Policy": "RGA", "Static_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Threshold": "100", "Flash_Channel_Count": "2",
    "Flash_Channel_Width": "2", "Channel_Transfer_Rate": "333", "Chip_No_Per_Channel": "3",
    "Flash_Technology": "MLC", "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_LSB": "75000", "Page_Read_Latency_CSB": "75000",
    "Page_Read_Latency_MSB": "75000", "Page_Program_Latency_LSB": "750000",
    "Page_Program_Latency_CSB": "750000", "Page_Program_Latency_MSB": "750000",
    "Block_Erase_Latency": "3800000", "Suspend_Erase_Time": "700000",
    "Suspend_Program_Time": "100000", "Die_No_Per_Chip": "2", "Plane_No_Per_Die": "2",
    "Block_No_Per_Plane": "40", "Page_No_Per_Block": "64", "Page_Capacity": "8192",
}
#: What they mean here.
MEANT: Json = {
    "link_mb_per_second": 6000, "fill": "sequential", "seed": 321, "buffer_bytes": 1 << 20,
    "map_cache_bytes": 0, "stripe": "wdcp", "op_percent": 12.5, "gc_percent": 5,
    "victim": "d_choices", "victim_choices": 5, "wear_gap": 100, "channels": 2,
    "bus_mb_per_second": 666, "chips": 3, "dies": 2, "planes": 2, "suspend": "erase",
    "suspend_cost_ns": 700000, "read_ns": 75000, "program_ns": 750000, "erase_ns": 3800000,
    "blocks": 40, "bits": 1, "word_lines": 64, "page_bytes": 8192, "unit_bytes": 0,
    "allocate": "static", "errors": "off",
}
ROWS = re.findall(r"^MQSIM\((\w+), \w+, \"(\w+)\",\s+(\w+), (?:NULL|\"(\w*))",
                  (TOP / "userspace/sim/mqsim-table.h").read_text(), re.M)


def make_config_text(**changed: str) -> str:
    """Return a configuration file with a value for each setting in userspace/sim/mqsim-table.h."""
    known = {name: changed.get(name, VALUES.get(name, word if kind == "ONLY" else "1"))
             for _, name, kind, word in ROWS}

    def make_xml_elements(parent: str) -> str:
        return "".join(f"\t<{name}>{known[name]}</{name}>\n" for of, name, *_ in ROWS
                       if of == parent)

    return ('<?xml version="1.0" encoding="us-ascii"?>\n<Execution_Parameter_Set>\n'
            f"<Host_Parameter_Set>\n{make_xml_elements('HOST')}</Host_Parameter_Set>\n"
            f"<!-- <Seed> -->\n<Device_Parameter_Set>\n{make_xml_elements('DEVICE')}"
            f"<Flash_Parameter_Set>\n{make_xml_elements('FLASH')}</Flash_Parameter_Set>\n"
            "</Device_Parameter_Set>\n</Execution_Parameter_Set>")


def read_parameters_of_mqsim_config(tmp_path: Path, text: str, *more: str) -> Json:
    (tmp_path / "ssdconfig.xml").write_text(text)
    result = run_sim("--config", tmp_path / "ssdconfig.xml", *more, "--requests", "10")
    assert get_only_run(result)["requests"] == 10
    return dict(result["parameters"])


def test_each_mqsim_value_sets_its_parameter(tmp_path: Path) -> None:
    found = read_parameters_of_mqsim_config(tmp_path, make_config_text())
    assert {key: found[key] for key in MEANT} == MEANT


def test_later_options_override_the_configuration(tmp_path: Path) -> None:
    assert read_parameters_of_mqsim_config(tmp_path, make_config_text(), "--blocks",
                                           "50")["blocks"] == 50


@pytest.mark.parametrize(("changed", "meant"), [
    ({"Ideal_Mapping_Table": "false"}, {"map_cache_bytes": 2097152}),
    ({"Static_Wearleveling_Enabled": "false"}, {"wear_gap": 0}),
    ({"GC_Block_Selection_Policy": "GREEDY"}, {"victim": "greedy"}),
    ({"GC_Block_Selection_Policy": "FIFO"}, {"victim": "fifo"}),
    ({"CMD_Suspension_Support": "PROGRAM"}, {"suspend": "program", "suspend_cost_ns": 100000}),
    ({"CMD_Suspension_Support": "NONE"}, {"suspend": "off"}),
    ({"Enabled_Preconditioning": "true"}, {"fill": "random"}),
    ({"Page_Read_Latency_MSB": "90000", "Page_Program_Latency_MSB": "900000"},
     {"bits": 2, "word_lines": 32, "read_ns": 90000, "read_first_ns": 75000,
      "program_ns": 900000, "program_fast_ns": 750000}),
    ({"Flash_Technology": "SLC", "Page_Read_Latency_MSB": "90000"},
     {"bits": 1, "read_ns": 75000}),
    ({"Flash_Technology": "TLC"}, {"bits": 1, "word_lines": 64}),
])
def test_named_and_combined_mqsim_values_set_the_parameters(tmp_path: Path, changed: dict[str, str],
                                                            meant: Json) -> None:
    found = read_parameters_of_mqsim_config(tmp_path, make_config_text(**changed))
    assert {key: found[key] for key in meant} == meant


def test_a_note_names_mqsim_values_that_are_not_modelled(tmp_path: Path) -> None:
    (tmp_path / "c.xml").write_text(make_config_text())
    done = run_approxftl("sim", "--config", tmp_path / "c.xml", "--requests", "10")
    assert done.code == 0
    for _, name, kind, _ in ROWS:
        assert (name in done.err) == (kind == "UNMODELLED"), name


SEED = "<Seed>321</Seed>"
REFUSED = [
    ({"HostInterface_Type": "SATA"}, "HostInterface_Type: SATA is not modelled"),
    ({"GC_Block_Selection_Policy": "RANDOM_PP"},
     "GC_Block_Selection_Policy: RANDOM_PP is not modelled"),
    ({"Plane_Allocation_Scheme": "CWD"}, 'stripe: "cwd" is not one of cwdp'),
    ({"Preemptible_GC_Enabled": "true"}, "Preemptible_GC_Enabled: true is not modelled"),
    ({"Flash_Technology": "TLC", "Page_Read_Latency_CSB": "1"}, "Page_Read_Latency_CSB: MQSim"),
    ({"Page_Read_Latency_MSB": "1", "Page_No_Per_Block": "63"}, "Page_No_Per_Block: 63 is odd"),
    ({"CMD_Suspension_Support": "PROGRAM_ERASE"}, "Suspend_Program_Time: it must be"),
    ({"Flash_Channel_Count": "8 channels"}, "Flash_Channel_Count: \"8 channels\" is not a number"),
    ({"Flash_Channel_Count": "0"}, "channels: 0 is out of range"),
    ({"Flash_Channel_Count": "-1"}, "Flash_Channel_Count: \"-1\" is not a number"),
    ({"Block_No_Per_Plane": "1e5"}, "Block_No_Per_Plane: \"1e5\" is not a number"),
    ({"Block_No_Per_Plane": "9" * 25}, "Block_No_Per_Plane: \"" + "9" * 25),
    ({"Block_No_Per_Plane": "9" * 200}, "Block_No_Per_Plane: \"9999"),
    ({"Channel_Transfer_Rate": "9" * 10, "Flash_Channel_Width": "9" * 10}, "bus: "),
    ({"Overprovisioning_Ratio": "7%"}, "Overprovisioning_Ratio: \"7%\" is not a number"),
    ({"Overprovisioning_Ratio": "1.0"}, "op: 100% is out of range"),
    ({"Overprovisioning_Ratio": "0.1.2"}, "Overprovisioning_Ratio: \"0.1.2\" is not a number"),
    ({"PCIe_Lane_Bandwidth": "nan"}, "PCIe_Lane_Bandwidth: \"nan\" is not a number"),
    ({"Page_Capacity": "3000"}, "page: 3000 bytes is not a power of two"),
    ({"Seed": ""}, "Seed: \"\" is not a value"),
    ({"Seed": "&lt;"}, "Seed: \"&lt;\" is not a value"),
]


def read_config_error(tmp_path: Path, text: str) -> str:
    """Return the only error that the simulator prints about the configuration."""
    (tmp_path / "c.xml").write_text(text)
    done = run_approxftl("sim", "--config", tmp_path / "c.xml")
    assert done.code == 2, done.err
    errors = [line for line in done.err.splitlines() if "note: " not in line]
    assert len(errors) == 1
    return errors[0]


@pytest.mark.parametrize(("changed", "sentence"), REFUSED)
def test_values_without_counterpart_are_refused_by_name(tmp_path: Path, changed: dict[str, str],
                                                       sentence: str) -> None:
    assert sentence in read_config_error(tmp_path, make_config_text(**changed))


@pytest.mark.parametrize(("old", "new", "sentence"), [
    (SEED, SEED + SEED, "line 12: Seed is there twice"),
    (SEED, "", "Seed is missing"),
    (SEED, SEED + "<Colour>1</Colour>", "\"Colour\" is no parameter of MQSim"),
    (SEED, SEED + "<Die_No_Per_Chip>2</Die_No_Per_Chip>", "\"Die_No_Per_Chip\" is no parameter"),
    (SEED, "<Seed>321</Sead>", "<Seed> does not end with </Seed>"),
    (SEED, "<Seed>321", "<Seed> does not end with </Seed>"),
    (SEED, '<Seed a="1">321</Seed>', "is no element, or one"),
    (SEED, SEED + "321", "is no element, or one"),
    (SEED, SEED + "</Flash_Parameter_Set>", "</Flash_Parameter_Set> ends what did not begin"),
    (SEED, SEED + "<!-- ", "a comment does not end"),
    (SEED, SEED + "\0", "is no ssdconfig.xml of MQSim"),
    (SEED, SEED + " " * 70000, "is no ssdconfig.xml of MQSim"),
    ("<Execution", '<!DOCTYPE a [<!ENTITY b "c">]><Execution', "is no element, or one"),
    ("<Execution_Parameter_Set>", "<MQSim_IO_Scenarios><IO_Scenario>",
     "\"MQSim_IO_Scenarios\" has no place here"),
    ("<Flash_Parameter_Set>", "<Host_Parameter_Set>", "\"Host_Parameter_Set\" has no place here"),
    ("</Execution_Parameter_Set>", "", "it ends inside Execution_Parameter_Set"),
    ("<Device_Parameter_Set>", "<Host_Parameter_Set><Seed>1</Seed></Host_Parameter_Set>",
     "Host_Parameter_Set is there twice"),
])
def test_files_that_are_no_mqsim_configuration_are_refused(tmp_path: Path, old: str, new: str,
                                                           sentence: str) -> None:
    assert old in make_config_text()
    assert sentence in read_config_error(tmp_path, make_config_text().replace(old, new, 1))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    done = run_approxftl("sim", "--config", tmp_path / "none.xml")
    assert done.code == 2
    assert "none.xml: No such file or directory" in done.err


def test_a_truncated_configuration_is_refused(tmp_path: Path) -> None:
    text = make_config_text()
    for end in range(0, len(text) - 1, 97):
        read_config_error(tmp_path, text[:end])
