"""Position bias in reports: judges asked in both orders, behind trainings and fused answers alike."""

from pathlib import Path

import pytest

from deem_core.reporting import report as report_of
from tests.core.reporting.helpers import EVIL, TINY, Page, done

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "formats" / "judges_both_orders.csv"
CONFIGS = {"fuse": {"random_state": 0, "method": "mv"}, "train": {**TINY, "random_state": 0}}


def report_on(workspace, content, kind="fuse", **reading):
    dataset = workspace.add_dataset("judges.csv", content, reading=reading)
    return report_of(done(workspace, kind, dataset, CONFIGS[kind]), workspace)


@pytest.mark.parametrize("kind", CONFIGS)
def test_page_and_numbers_tell_how_often_each_judge_contradicts_itself(workspace, kind):
    report = report_on(workspace, SAMPLE.read_bytes(), kind)
    told, page = report.to_dict(), Page(report.html())
    biases = report.material.reading.report.position_bias
    assert [one["judge"] for one in told["position_bias"]] == ["judge-large", "judge-small", "judge-old"]
    assert told["position_bias"] == [bias.to_dict() for bias in biases]
    there = page.sections()
    assert there[there.index("data") + 1] == "position_bias"
    assert "Both of their answers count as votes." in page.text
    for bias in biases:
        low, high = bias.interval
        assert f"{bias.judge}{bias.both}{bias.single}{100 * bias.share:.1f}% (" in page.text
        assert low < bias.share < high
    assert "Does the order of the answers decide?" in {a.get("aria-label") for _, a in page.elements}


def test_of_merged_answers_it_says_that_contradictions_are_no_vote(workspace):
    report = report_on(workspace, SAMPLE.read_bytes(), one_voice=True)
    page = Page(report.html())
    assert report.to_dict()["dataset"]["learners"] == ["judge-large", "judge-small", "judge-old", "ana", "bo"]
    assert len(report.to_dict()["position_bias"]) == 3
    assert "Where their two answers contradict each other they have no vote." in page.text
    assert "On these rows the judge has no vote." in page.text  # below the picture


def test_judges_that_answered_no_row_in_both_orders_have_no_share_and_no_picture(workspace):
    lines = [f"{at},A,,B,A" if at % 2 else f"{at},,B,B,A" for at in range(40)]
    report = report_on(workspace, "\n".join(["id,gpt/ab,gpt/ba,kim,lee", *lines]).encode())
    page = Page(report.html())
    (told,) = report.to_dict()["position_bias"]
    assert (told["both"], told["single"], told["share"], told["low"]) == (0, 40, None, None)
    assert "gpt040–" in page.text
    assert "Does the order of the answers decide?" not in {a.get("aria-label") for _, a in page.elements}


def test_names_of_judges_are_letters(workspace):
    content = SAMPLE.read_text().replace("judge-old", EVIL).encode()
    html = report_on(workspace, content).html()
    assert EVIL not in html
    assert EVIL in Page(html).text


def test_files_without_such_judges_have_no_such_section(full):
    assert full[1].to_dict()["position_bias"] == []
    assert "position_bias" not in Page(full[1].html()).sections()
