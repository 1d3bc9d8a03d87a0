"""nbgrader's settings for this course. Run its commands in this folder: see ../autograder/README.md."""

from autograder.course.settings import set_up_course

c = get_config()  # noqa: F821  (given by nbgrader)
set_up_course(c, __file__)
c.CourseDirectory.course_id = "dpcourse"
