package peers;

import android.app.Application;
import android.content.Context;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.function.Consumer;
import org.acra.ACRA;
import org.acra.ErrorReporter;
import org.acra.ReportField;
import org.acra.collector.CustomDataCollector;
import org.acra.collector.StacktraceCollector;
import org.acra.config.CoreConfiguration;
import org.acra.config.CoreConfigurationBuilder;
import org.acra.data.StringFormat;
import org.acra.file.ReportLocator;
import org.acra.plugins.SimplePluginLoader;
import org.acra.scheduler.SenderScheduler;
import org.acra.scheduler.SenderSchedulerFactory;

/**
 * ACRA, which collects the stack and custom data. Its reports are taken where it would otherwise ask the
 * system to schedule a job that sends them.
 */
final class CrashReports {
    private static volatile Consumer<String> onReport = report -> {};

    private final ErrorReporter reporter;

    CrashReports(Application app) {
        CoreConfigurationBuilder configuration = new CoreConfigurationBuilder()
                .withReportFormat(StringFormat.JSON)
                .withBuildConfigClass(CrashReports.class)
                .withReportContent(Arrays.asList(ReportField.STACK_TRACE, ReportField.CUSTOM_DATA))
                .withPluginLoader(new SimplePluginLoader(StacktraceCollector.class, CustomDataCollector.class, Taken.class));
        ACRA.init(app, configuration);
        reporter = ACRA.getErrorReporter();
    }

    /** Counts one more in the data of the next report. */
    void count(String key) {
        String before = reporter.getCustomData(key);
        reporter.putCustomData(key, before == null ? "1" : String.valueOf(Integer.parseInt(before) + 1));
    }

    /** Makes a report of all that was counted, and sets the counts back to none. */
    void report(Consumer<String> taken) {
        onReport = taken;
        reporter.handleSilentException(new IllegalStateException("nothing was wrong"));
        reporter.clearCustomData();
    }

    /** Whether ACRA is the handler of exceptions that nobody catches. */
    boolean isHandler() {
        return Thread.getDefaultUncaughtExceptionHandler() == reporter;
    }

    void stop() {
        reporter.setEnabled(false);
    }

    /** ACRA makes the object itself, from this class. */
    public static final class Taken implements SenderSchedulerFactory {
        @Override public boolean enabled(CoreConfiguration configuration) {
            return true;
        }

        @Override public SenderScheduler create(Context context, CoreConfiguration configuration) {
            return onlySilent -> {
                for (File report : new ReportLocator(context).getApprovedReports()) {
                    try {
                        onReport.accept(new String(Files.readAllBytes(report.toPath()), StandardCharsets.UTF_8));
                    } catch (IOException gone) {
                        throw new UncheckedIOException(gone);
                    }
                    report.delete();
                }
            };
        }
    }
}
